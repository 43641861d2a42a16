import { GloveboxError } from "../../src/contract/errors.js";
import { frameReader } from "./frame-reader.js";
import { type Frame, type Lane, type LaneCall, LaneLost } from "./lane.js";
import { newMarker } from "./marker.js";
import { quoteLine } from "./quote.js";
import type { ProcessOutcome, RemoteProcess } from "./transport.js";

/** So many requests travel ahead of their answers: the latency of the link is paid once for all of them. */
const MAX_UNDER_WAY = 64;
/** A payload is a sign of life only when it is through: on a slow link that takes a while. */
const SLOWEST_BYTES_PER_MS = 16;
/** What the target's shell said last is kept for the error that explains a lost lane. */
const MAX_STDERR_BYTES = 4096;

/**
 * The program of every lane: reads lines up to one that is `.`, and does what they say. Short, since it shows in the
 * target's process list, where a command that looks for a word should not find it.
 */
export const BOOT = `n=$(printf '\\n.');n=\${n%.};b=;while IFS= read -r l&&[ "$l" != . ];do b=$b$l$n;done;eval "$b"`;

interface Entry {
  readonly call: LaneCall;
  readonly marker: string;
  readonly frames: Frame[];
  readonly resolve: (frames: readonly Frame[]) => void;
  readonly reject: (error: LaneLost) => void;
}

/** A lane over a shell that was started with `BOOT`. `script` makes it one (scripts/frames.ts). */
export function openShLane(process: RemoteProcess, script: string): Lane {
  const { stdin, stdout, stderr } = process;
  const waiting: Entry[] = [];
  const underWay: Entry[] = [];
  let greeted = false;
  let alive = true;
  let blocked = false;
  let said = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  let resolveLost = (_reason: GloveboxError): void => {};
  const lost = new Promise<GloveboxError>((resolve) => {
    resolveLost = resolve;
  });

  const end = (reason: GloveboxError): void => {
    if (!alive) return;
    alive = false;
    clearTimeout(timer);
    process.destroy();
    for (const entry of underWay.splice(0)) entry.reject(new LaneLost(lane, true, reason));
    for (const entry of waiting.splice(0)) entry.reject(new LaneLost(lane, false, reason));
    resolveLost(reason);
  };

  const watch = (): void => {
    clearTimeout(timer);
    const [first] = underWay;
    if (first === undefined || !alive) return;
    const { verb, payload } = first.call;
    const idleMs = first.call.idleMs + Math.round((payload?.byteLength ?? 0) / SLOWEST_BYTES_PER_MS);
    timer = setTimeout(() => end(silent(verb, idleMs)), idleMs);
  };

  const pump = (): void => {
    while (alive && !blocked && underWay.length < MAX_UNDER_WAY) {
      const entry = waiting.shift();
      if (entry === undefined) return;
      underWay.push(entry);
      if (underWay.length === 1) watch();
      const { verb, arguments: words, payload } = entry.call;
      const line = words.map((word) => ` ${typeof word === "number" ? word : quoteLine(word)}`).join("");
      let room = stdin.write(`q ${entry.marker} ${verb}${line}\n`);
      if (payload !== undefined && payload.byteLength > 0) room = stdin.write(payload);
      blocked = !room;
    }
  };

  const take = frameReader({
    due() {
      const [entry] = underWay;
      return (
        entry && {
          marker: Buffer.from(entry.marker),
          maxBytes: entry.call.maxReplyBytes,
          skipNoise: !greeted,
          ...(entry.call.onBody && { onBody: entry.call.onBody }),
          onFrame: (frame) => void entry.frames.push(frame),
        }
      );
    },
    complete() {
      greeted = true;
      const entry = underWay.shift();
      entry?.resolve(entry.frames);
      pump();
    },
  });

  stdin.on("drain", () => {
    blocked = false;
    watch();
    pump();
  });
  stdout.on("data", (chunk: Buffer) => {
    if (!alive) return;
    watch();
    const breach = take(chunk);
    if (breach !== undefined) end(broken(breach));
    else watch();
  });
  stderr.on("data", (chunk: Buffer) => {
    said = (said + chunk.toString("utf8")).slice(-MAX_STDERR_BYTES);
  });
  void process.outcome.then((outcome) => {
    // What it said last may still be on its way.
    setTimeout(() => end(ended(outcome, said)), 20);
  });
  stdout.on("close", () => {
    // Nothing more can come; the authority may know why, or never tell.
    setTimeout(() => end(ended({ kind: "lost", error: closed() }, said)), 1_000).unref();
  });
  stdin.write(`${script}\n.\n`);

  const lane: Lane = {
    get pending() {
      return waiting.length + underWay.length;
    },
    get alive() {
      return alive;
    },
    lost,
    destroy: end,
    call: (call) =>
      new Promise((resolve, reject) => {
        if (!alive) {
          void lost.then((reason) => reject(new LaneLost(lane, false, reason)));
          return;
        }
        waiting.push({ call, marker: newMarker(), frames: [], resolve, reject });
        pump();
      }),
  };
  return lane;
}

function silent(verb: string, idleMs: number): GloveboxError {
  return new GloveboxError(
    "timeout",
    `The target did not answer for ${idleMs / 1000} s (request ${verb}). It may be overloaded, or the file system may hang. Try again.`,
    {
      retrySafe: true,
    },
  );
}

function broken(breach: string): GloveboxError {
  return new GloveboxError(
    "unexpected",
    `The shell on the target answered ${breach}: what came back was not the answer to the request. Try again.`,
    {
      retrySafe: true,
    },
  );
}

function closed(): GloveboxError {
  return new GloveboxError("disconnected", "The connection to a shell on the target was closed. Try again.", { retrySafe: true });
}

function ended(outcome: ProcessOutcome, said: string): GloveboxError {
  if (outcome.kind === "lost") return outcome.error;
  const how = outcome.kind === "exited" ? `with exit code ${outcome.exitCode}` : `by ${outcome.signal}`;
  const why = said.trim() === "" ? "" : ` It said: ${said.trim().slice(0, 500)}`;
  return new GloveboxError("disconnected", `A shell of ours on the target ended ${how}.${why} Try again.`, {
    retrySafe: true,
    details: { shellEnded: true },
  });
}
