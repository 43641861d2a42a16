import { randomBytes } from "node:crypto";
import { abortError, GloveboxError } from "../../src/contract/errors.js";
import { errorOf } from "./errors.js";
import { parseFacts, type TargetFacts } from "./facts.js";
import { type Frame, type Lane, type LaneCall, LaneLost } from "./lane.js";
import { type Identity, identityOf } from "./lane-pool.js";
import { firstLaneScript, type LanePlace, laneVariant } from "./library.js";
import type { PosixOptions } from "./options.js";
import { isWithin, plainPath } from "./paths.js";
import { lastOf, wordsOf } from "./reply.js";
import { BOOT, openShLane } from "./sh-lane.js";
import type { Transport } from "./transport.js";

/** A probe makes some fifty forks; a login shell before it may take its time. */
const PROBE_MS = 30_000;

export interface FirstLane {
  readonly lane: Lane;
  readonly identity: Identity;
  readonly facts: TargetFacts;
  readonly place: LanePlace;
  readonly cwd: string;
  readonly root?: string;
  readonly home?: string;
}

/** Starts a shell, finds out what the target has, and makes the shell the connection's first lane. */
export async function openFirstLane(transport: Transport, shell: readonly string[], options: PosixOptions): Promise<FirstLane> {
  const { signal } = options;
  const process = await transport.start([...shell, "-c", BOOT, "glovebox"], { purpose: "lane", ...(signal && { signal }) });
  const lane = openShLane(process, firstLaneScript());
  const abort = (): void => lane.destroy(abortError(signal as AbortSignal, { retrySafe: true }));
  signal?.addEventListener("abort", abort, { once: true });
  try {
    return { lane, ...(await furnish(lane, options)) };
  } catch (error) {
    const reason = error instanceof LaneLost ? error.reason : error;
    lane.destroy(reason instanceof GloveboxError ? reason : new GloveboxError("unexpected", String(reason)));
    throw reason instanceof GloveboxError ? explain(reason) : reason;
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}

async function furnish(
  lane: Lane,
  { cwd: wanted, root: wantedRoot, durable = true, hardLinks = "refuse" }: PosixOptions,
): Promise<Omit<FirstLane, "lane">> {
  const ask = (verb: string, ...words: LaneCall["arguments"]): Promise<readonly Frame[]> =>
    lane.call({ verb, arguments: words, maxReplyBytes: 65_536, idleMs: PROBE_MS });
  const placeOf = async (path: string | undefined): Promise<string> => {
    const words = wordsOf(lastOf(await ask("place", path === undefined ? "" : plainPath(path))));
    if (words.first !== "ok") throw errorOf(words, path ?? "");
    return words.rest();
  };
  const probing = ask("probe");
  const places = Promise.all([placeOf(wanted ?? wantedRoot), wantedRoot === undefined ? undefined : placeOf(wantedRoot)]);
  places.catch(() => undefined);
  const facts = parseFacts(lastOf(await probing).body);
  const [cwd, root] = await places;
  if (root !== undefined && !isWithin(root, cwd)) {
    throw new GloveboxError("invalid_argument", `The working directory ${cwd} is not inside the root ${root}. Choose one that is.`, {
      retrySafe: true,
    });
  }
  const digits = randomBytes(8).toString("hex").slice(0, 15);
  const place: LanePlace = {
    connectionId: digits,
    // The beginning of a UUID of version 4.
    tagPrefix: `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(12)}-8`,
    ...(root === undefined ? {} : { root }),
    spoolDirectory: `${facts.privateDirectory ?? "/tmp/.glovebox"}/spool-${randomBytes(8).toString("hex")}`,
    durable,
    hardLinks,
  };
  const identity = identityOf(await ask("load", laneVariant(facts, place)));
  if (identity === undefined)
    throw new GloveboxError("unsupported", "The shell on the target does not do what it is told. A POSIX sh is needed.");
  return {
    identity,
    facts,
    place,
    cwd,
    ...(root === undefined ? {} : { root }),
    ...(facts.home === undefined ? {} : { home: facts.home }),
  };
}

/** A shell that ended before it said anything is no shell to work with. */
function explain(reason: GloveboxError): GloveboxError {
  if (reason.code !== "disconnected" || !/ended with exit code (?:126|127|2)\b/.test(reason.message)) return reason;
  return new GloveboxError("unsupported", `No POSIX sh answers on the target. ${reason.message}`, { retrySafe: true, cause: reason });
}
