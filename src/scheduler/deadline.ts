/** How work came out that was given a deadline. What it does after `expired` or `aborted` is ignored. */
export type Outcome<Value> =
  | { readonly kind: "settled"; readonly value: Value }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "expired" }
  | { readonly kind: "aborted" };

/**
 * Runs `work` for at most `timeoutMs`, and no longer than until `signal` fires. The signal that `work` gets fires in both
 * cases, so that it can stop. Never rejects.
 */
export function withDeadline<Value>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Value | Promise<Value>,
): Promise<Outcome<Value>> {
  if (signal?.aborted) return Promise.resolve({ kind: "aborted" });
  return new Promise((resolve) => {
    const own = new AbortController();
    const settle = (outcome: Outcome<Value>): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      resolve(outcome);
    };
    const onAbort = (): void => {
      settle({ kind: "aborted" });
      own.abort(signal?.reason);
    };
    const timer = setTimeout(() => {
      settle({ kind: "expired" });
      own.abort(new DOMException(`No answer within ${timeoutMs} ms`, "TimeoutError"));
    }, timeoutMs);
    signal?.addEventListener("abort", onAbort, { once: true });
    const run = async (): Promise<Value> => await work(own.signal);
    run().then(
      (value) => settle({ kind: "settled", value }),
      (error: unknown) => settle({ kind: "failed", error }),
    );
  });
}

/**
 * Waits for `work` as long as it takes; once `signal` has fired, for at most `graceMs` more. Never rejects, and never
 * answers `aborted`: being told to stop is not having stopped.
 */
export function withGrace<Value>(graceMs: number, signal: AbortSignal, work: Promise<Value>): Promise<Outcome<Value>> {
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const settle = (outcome: Outcome<Value>): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", startGrace);
      resolve(outcome);
    };
    const startGrace = (): void => {
      timer = setTimeout(() => settle({ kind: "expired" }), graceMs);
    };
    if (signal.aborted) startGrace();
    else signal.addEventListener("abort", startGrace, { once: true });
    work.then(
      (value) => settle({ kind: "settled", value }),
      (error: unknown) => settle({ kind: "failed", error }),
    );
  });
}
