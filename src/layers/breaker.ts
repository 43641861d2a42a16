import { GloveboxError } from "../contract/errors.js";
import type { Layer } from "../contract/target.js";
import { intercept } from "./intercept.js";

export interface BreakerOptions {
  /** Calls in a row that must end `disconnected` for the breaker to open. Default 5. */
  readonly failures?: number;
  /** How long calls fail at once, before one look-up of the working directory tries the target again. Default 10 s. */
  readonly cooldownMs?: number;
}

/**
 * Stops asking a target that does not answer: after `failures` calls in a row that ended `disconnected`, calls reject
 * `disconnected` at once until the target has answered again. Each change is a `target_breaker` event.
 */
export function breaker({ failures = 5, cooldownMs = 10_000 }: BreakerOptions = {}): Layer {
  return (inner) => {
    const loading = import("cockatiel").then(({ CircuitState, ConsecutiveBreaker, circuitBreaker, handleAll, isBrokenCircuitError }) => {
      const policy = circuitBreaker(handleAll, { halfOpenAfter: cooldownMs, breaker: new ConsecutiveBreaker(failures) });
      const names = new Map([
        [CircuitState.Open, "open"],
        [CircuitState.HalfOpen, "half_open"],
        [CircuitState.Closed, "closed"],
      ] as const);
      policy.onStateChange((state) => {
        const name = names.get(state as Parameters<typeof names.get>[0]);
        if (name !== undefined) inner.emit({ type: "target_breaker", target: inner.label, state: name });
      });
      return { policy, closed: () => policy.state === CircuitState.Closed, isBrokenCircuitError };
    });

    return intercept(async ({ signal }, next) => {
      const { policy, closed, isBrokenCircuitError } = await loading;
      try {
        // A long command must not be what the others wait for.
        if (!closed()) await policy.execute(() => counted(() => inner.stat(inner.cwd, { signal })));
        const outcome = await policy.execute(() => counted(next));
        if ("value" in outcome) return outcome.value;
        throw outcome.error;
      } catch (error) {
        if (!isBrokenCircuitError(error)) throw error;
        throw new GloveboxError(
          "disconnected",
          `${inner.label} was not asked: it has not answered ${failures} times in a row. It is tried again ${cooldownMs / 1000} s after the last failure; work elsewhere until then.`,
          { retrySafe: true, target: inner.label },
        );
      }
    })(inner);
  };
}

/** Any answer proves that the target is there, a refusal too: only `disconnected` counts as a failure. */
async function counted<Value>(run: () => Promise<Value>): Promise<{ readonly value: Value } | { readonly error: unknown }> {
  try {
    return { value: await run() };
  } catch (error) {
    if (error instanceof GloveboxError && error.code === "disconnected") throw error;
    return { error };
  }
}
