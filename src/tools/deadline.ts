import type { GloveboxError } from "../contract/errors.js";

/** The longest wait that a timer can hold: 2^31 - 1 milliseconds. A longer one would fire at once. */
export const MAX_TIMER_MS = 2_147_483_647;

/**
 * Runs `job` with a signal that fires when the caller's does, with its reason, or after `timeoutMs`, with the error that
 * `timedOut` makes. Settles as the job does: whoever is aborted decides when it is over.
 */
export async function withDeadline<T>(
  signal: AbortSignal,
  timeoutMs: number | undefined,
  timedOut: () => GloveboxError,
  job: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (timeoutMs === undefined) return await job(signal);
  const controller = new AbortController();
  const forward = (): void => controller.abort(signal.reason);
  const timer = setTimeout(() => controller.abort(timedOut()), timeoutMs);
  if (signal.aborted) forward();
  else signal.addEventListener("abort", forward, { once: true });
  try {
    return await job(controller.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", forward);
  }
}
