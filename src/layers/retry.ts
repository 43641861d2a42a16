import { type ErrorCode, GloveboxError } from "../contract/errors.js";
import type { VerbName } from "../contract/operations.js";
import type { Layer } from "../contract/target.js";
import { intercept } from "./intercept.js";

export interface RetryOptions {
  /** Further attempts after the first. Default 3. */
  readonly attempts?: number;
  /** About how long to wait before the first of them; it doubles from one to the next, up to a second. Default 100 ms. */
  readonly delayMs?: number;
}

const READS: readonly VerbName[] = ["readFile", "stat", "readdir", "realpath", "grep", "find"];

/** What may be over by the next attempt. */
const PASSING: readonly ErrorCode[] = ["disconnected", "busy", "not_started"];

/**
 * Repeats a read whose error says that repeating is safe and that time may cure. Commands and writes are never repeated.
 * An abort is heeded between attempts, within a second. A repeated search reports its batches again.
 */
export function retry({ attempts = 3, delayMs = 100 }: RetryOptions = {}): Layer {
  const loading = import("cockatiel").then(({ ExponentialBackoff, handleWhen, retry: repeat }) =>
    repeat(
      handleWhen((error) => error instanceof GloveboxError && error.retrySafe && PASSING.includes(error.code)),
      { maxAttempts: attempts, backoff: new ExponentialBackoff({ initialDelay: delayMs, maxDelay: Math.max(1_000, delayMs) }) },
    ),
  );
  return intercept(async ({ verb, signal }, next) => {
    if (!READS.includes(verb)) return await next();
    const policy = await loading;
    return await policy.execute(() => next(), signal);
  });
}
