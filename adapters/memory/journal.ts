import { abortError, type ErrorCode, GloveboxError } from "../../src/contract/errors.js";
import type { VerbName } from "../../src/contract/operations.js";

/** One call of a verb as it reached the memory target: paths are absolute by then. */
export interface MemoryCall {
  readonly verb: VerbName;
  readonly path?: string;
  /** The command of `exec`. */
  readonly command?: string;
  /** Bytes of a write's payload. */
  readonly bytes?: number;
  /** What else was asked: `{ ifMatch }`, `{ lines }`, `{ env }`. Absent when nothing was. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** Milliseconds since the epoch. */
  readonly startedMs: number;
  /** How long it took; absent while it runs. */
  readonly durationMs?: number;
  readonly outcome: "pending" | "ok" | ErrorCode;
}

/** Faults on cue, for tests. Each acts before the verb has changed anything. */
export interface MemoryFaults {
  /** The next `times` (default 1) calls of `verb` reject with `code`. */
  failNext(verb: VerbName, code: ErrorCode, times?: number): void;
  /** Every later call of `verb` takes this long first; 0 ends it. An abort while it waits rejects. */
  delay(verb: VerbName, ms: number): void;
}

/** The oldest calls are forgotten beyond this many. */
const MAX_CALLS = 10_000;

type Recorded = { -readonly [Key in keyof MemoryCall]: MemoryCall[Key] };

/** Records every call of one connection, and makes it wait or fail as told. */
export function createJournal() {
  const calls: Recorded[] = [];
  const failures = new Map<VerbName, ErrorCode[]>();
  const delays = new Map<VerbName, number>();
  const faults: MemoryFaults = {
    failNext(verb, code, times = 1) {
      failures.set(verb, [...(failures.get(verb) ?? []), ...Array<ErrorCode>(times).fill(code)]);
    },
    delay(verb, ms) {
      delays.set(verb, ms);
    },
  };

  async function record<Result>(
    facts: Pick<MemoryCall, "verb" | "path" | "command" | "bytes">,
    asked: object | undefined,
    signal: AbortSignal | undefined,
    run: () => Result | Promise<Result>,
  ): Promise<Result> {
    const options = plain(asked);
    const call: Recorded = { ...facts, ...(options && { options }), startedMs: Date.now(), outcome: "pending" };
    calls.push(call);
    if (calls.length > MAX_CALLS) calls.shift();
    const started = performance.now();
    try {
      if (signal?.aborted) throw abortError(signal);
      const ms = delays.get(facts.verb) ?? 0;
      if (ms > 0) await pause(ms, signal);
      const code = failures.get(facts.verb)?.shift();
      if (code !== undefined) {
        throw new GloveboxError(code, `This ${facts.verb} was told to fail with ${code}.`, { verb: facts.verb, path: facts.path });
      }
      const result = await run();
      call.outcome = "ok";
      return result;
    } catch (error) {
      call.outcome = error instanceof GloveboxError ? error.code : "unexpected";
      throw error;
    } finally {
      call.durationMs = performance.now() - started;
    }
  }

  return { calls: calls as readonly MemoryCall[], faults, record };
}

/** Waits; an endless wait (`Infinity`) ends only by the signal. Rejects with the abort's error. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      clearTimeout(timer);
      reject(abortError(signal as AbortSignal));
    };
    // A timer cannot hold more than 2^31-1 ms, and would fire at once.
    const timer = ms > 2_147_483_647 ? undefined : setTimeout(done, ms);
    function done(): void {
      signal?.removeEventListener("abort", leave);
      resolve();
    }
    if (signal?.aborted) leave();
    else signal?.addEventListener("abort", leave, { once: true });
  });
}

/** The options that say something as data: no signal, no callbacks. */
function plain(asked: object | undefined): Readonly<Record<string, unknown>> | undefined {
  const said = Object.entries(asked ?? {}).filter(([key, value]) => key !== "signal" && value !== undefined && typeof value !== "function");
  return said.length === 0 ? undefined : Object.fromEntries(said);
}
