import { abortError, type ErrorCode, GloveboxError } from "../contract/errors.js";
import type { VerbName } from "../contract/operations.js";
import type { Layer, VerbCall } from "../contract/target.js";
import { intercept } from "../layers/intercept.js";

/**
 * What happens to a call: `fail` rejects before the verb has run, so nothing has changed; `cut` rejects after it has run,
 * so its answer is lost and its work is done; `delayMs` holds it back first, and an abort ends the wait.
 */
export type Fault =
  | { readonly fail: ErrorCode; readonly delayMs?: number }
  | { readonly cut: ErrorCode; readonly delayMs?: number }
  | { readonly delayMs: number };

/** Decides about each call; `nth` counts the calls of its verb, from 1. */
export type FaultPlan = (call: VerbCall, nth: number) => Fault | undefined;

/** A fault for one call of a verb, or for every call where `nth` is left out. */
export interface Cue {
  readonly verb: VerbName;
  readonly nth?: number;
  readonly fault: Fault;
}

/** Makes verbs fail, stall and lose their answers on cue: for tests of whatever stands above. */
export function faults(plan: FaultPlan | readonly Cue[]): Layer {
  const decide = typeof plan === "function" ? plan : fromCues(plan);
  const counts = new Map<VerbName, number>();
  return intercept(async (call, next) => {
    const nth = (counts.get(call.verb) ?? 0) + 1;
    counts.set(call.verb, nth);
    const fault = decide(call, nth);
    if (fault === undefined) return await next();
    if (fault.delayMs !== undefined) await hold(fault.delayMs, call.signal);
    if ("fail" in fault) throw faultError(fault.fail, call, "before it ran");
    const result = await next();
    if ("cut" in fault) throw faultError(fault.cut, call, "after it had run");
    return result;
  });
}

function fromCues(cues: readonly Cue[]): FaultPlan {
  return (call, nth) => cues.find((cue) => cue.verb === call.verb && (cue.nth ?? nth) === nth)?.fault;
}

function faultError(code: ErrorCode, { verb, path }: VerbCall, when: string): GloveboxError {
  return new GloveboxError(code, `A fault on cue: ${verb} was made to reject ${code} ${when}.`, {
    verb,
    path,
    retrySafe: when === "before it ran" && code !== "unknown_outcome",
  });
}

function hold(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      clearTimeout(timer);
      reject(abortError(signal as AbortSignal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", leave);
      resolve();
    }, ms);
    if (signal?.aborted) leave();
    else signal?.addEventListener("abort", leave, { once: true });
  });
}
