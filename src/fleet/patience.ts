import { abortError, GloveboxError } from "../contract/errors.js";

export interface Patience {
  readonly signal?: AbortSignal | undefined;
  /** Default: for ever. */
  readonly deadlineMs?: number;
  /** What it was waiting for when the time ran out, for the error's message. */
  waits?(): string;
}

/** What the work settles with, unless the signal fires or the time runs out before. The work goes on by itself. */
export async function settledBy<Result>(work: Promise<Result>, { signal, deadlineMs, waits = () => "" }: Patience): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort = (): void => undefined;
  const cut = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal === undefined ? undefined : abortError(signal, { retrySafe: true }));
    if (deadlineMs === undefined) return;
    timer = setTimeout(() => {
      const message = `No sandbox within ${deadlineMs} ms: ${waits()}. Try again, or allow more time (deadlineMs).`;
      reject(new GloveboxError("timeout", message, { retrySafe: true, details: { deadlineMs } }));
    }, deadlineMs);
  });
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted) onAbort();
  try {
    return await Promise.race([work, cut]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

export function sleep(timeMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, timeMs);
    signal.addEventListener("abort", done, { once: true });
  });
}
