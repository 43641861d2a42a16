import { GloveboxError } from "../../src/contract/errors.js";
import { pause, unlessAborted } from "./deadline.js";

/** 0.1 s at first, doubled up to 2 s, with up to a quarter more at random so that many clients do not come back together. */
const BACKOFF_MS = { first: 100, most: 2_000 };
/** How long a host that was reached before is asked for again, from its loss on: it may be restarting. */
const KNOWN_HOST_MS = 15_000;
/** The same when it has just been silent for long: those who waited then shall know within 20 s in all. */
const SILENT_HOST_MS = 4_500;
/** How long a host that hangs up before a word is asked again: it has too many to greet (MaxStartups). */
const CROWDED_MS = 5_000;

export interface Patience {
  /** What is known of the host: nothing, that it was reached before, or that it was and has just fallen silent. */
  readonly host: "new" | "known" | "silent";
  /** When it was lost, by the monotonic clock; where that is long ago, one try has to do. */
  readonly lostAtMs?: number;
  readonly signal: AbortSignal;
}

/**
 * Connects, again and again with growing pauses where that can help. A wrong address, key or host key is said at once, and
 * so is that a host which was never reached does not answer.
 */
export async function connectPatiently<Session>(
  connect: (signal: AbortSignal) => Promise<Session>,
  { host, lostAtMs, signal }: Patience,
): Promise<Session> {
  const started = host === "known" ? (lostAtMs ?? performance.now()) : performance.now();
  const limit = new AbortController();
  const late = (): void => limit.abort(signal.aborted ? signal.reason : timeout());
  const timer = host === "silent" ? setTimeout(late, SILENT_HOST_MS) : undefined;
  signal.addEventListener("abort", late, { once: true });
  try {
    for (let pauseMs = BACKOFF_MS.first; ; pauseMs = Math.min(2 * pauseMs, BACKOFF_MS.most)) {
      try {
        return await connect(limit.signal);
      } catch (error) {
        const spentMs = performance.now() - started + pauseMs;
        if (limit.signal.aborted || spentMs > patienceMs(error, host)) throw error;
        await unlessAborted(pause(pauseMs * (1 + Math.random() / 4)), limit.signal);
      }
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", late);
  }
}

function patienceMs(error: unknown, host: Patience["host"]): number {
  if (!(error instanceof GloveboxError) || (error.code !== "disconnected" && error.code !== "timeout")) return 0;
  if (host !== "new") return host === "known" ? KNOWN_HOST_MS : SILENT_HOST_MS;
  return error.details.dropped === true ? CROWDED_MS : 0;
}

function timeout(): GloveboxError {
  const message = "The host fell silent, and could not be connected to again within a few seconds. Check the network, and try again.";
  return new GloveboxError("disconnected", message, { retrySafe: true });
}
