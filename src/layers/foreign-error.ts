import { abortError, type ErrorFacts, GloveboxError } from "../contract/errors.js";

/**
 * Whatever was thrown, as a GloveboxError with `facts` filled in where the thrower did not know them. A foreign error
 * becomes `unexpected`, or, when the signal has fired and the error is its echo, what the signal stands for.
 */
export function toGloveboxError(thrown: unknown, facts: ErrorFacts, signal?: AbortSignal): GloveboxError {
  if (thrown instanceof GloveboxError) return thrown.with(facts);
  if (signal?.aborted && (thrown === signal.reason || (thrown instanceof Error && thrown.name === "AbortError"))) {
    return abortError(signal, facts);
  }
  const said = thrown instanceof Error ? thrown.message || thrown.name : String(thrown);
  const what = [facts.verb ?? "The call", facts.path === undefined ? "" : `on ${JSON.stringify(facts.path)}`].filter(Boolean).join(" ");
  return new GloveboxError(
    "unexpected",
    `${what} failed in a way that nobody foresaw: ${said}. Check the state of the target before you try it once more; if it happens again, it is a defect to report.`,
    { ...facts, cause: thrown },
  );
}
