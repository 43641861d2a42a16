import { abortError, GloveboxError } from "../../src/contract/errors.js";

export interface Deadline {
  /** The start of the sentence: `build-box did not answer on port 22`. */
  readonly what: string;
  readonly ms: number;
  readonly signal?: AbortSignal;
}

/** Settles as `start` says, else rejects `timeout` after `ms`, or as the signal says. What comes later is handed to `late`. */
export function withDeadline<Value>(
  { what, ms, signal }: Deadline,
  start: (resolve: (value: Value) => void, reject: (error: unknown) => void) => void,
  late: (value: Value) => void = () => undefined,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    let open = true;
    const settle = (how: () => void): void => {
      if (!open) return;
      open = false;
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      how();
    };
    const abort = (): void => settle(() => reject(abortError(signal as AbortSignal, { retrySafe: true })));
    const timer = setTimeout(() => settle(() => reject(timeout(what, ms))), ms);
    signal?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted) abort();
    try {
      start(
        (value) => (open ? settle(() => resolve(value)) : late(value)),
        (error) => settle(() => reject(error)),
      );
    } catch (error) {
      // ssh2 throws on a connection that has just ended.
      settle(() => reject(error));
    }
  });
}

function timeout(what: string, ms: number): GloveboxError {
  return new GloveboxError("timeout", `${what} within ${ms / 1000} s. Check the host and the network, and try again.`, { retrySafe: true });
}

/** `work`, or the rejection that the signal stands for; the work goes on without a listener then. */
export function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(abortError(signal, { retrySafe: true }));
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
