import { abortError } from "../../src/contract/errors.js";

/** Waits. Rejects as soon as `signal` fires. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(abortError(signal, { retrySafe: true }));
    const abort = (): void => {
      clearTimeout(timer);
      reject(abortError(signal as AbortSignal, { retrySafe: true }));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", abort, { once: true });
  });
}

export function checkAbort(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortError(signal, { retrySafe: true });
}
