import { abortError } from "../contract/errors.js";
import type { Layer } from "../contract/target.js";
import { intercept } from "./intercept.js";

export interface LimitOptions {
  /** Commands at once. Default 8. */
  readonly commands?: number;
  /** Calls of the other verbs at once. Default 16. */
  readonly others?: number;
}

/**
 * Bounds how many calls of an environment run at once; the rest wait in order, and leave the line at once when aborted.
 * Commands are counted apart: one that waits for its output to be written must not hold the place that the write needs.
 */
export function limit({ commands = 8, others = 16 }: LimitOptions = {}): Layer {
  return (inner) => {
    const gates = { commands: createGate(commands), others: createGate(others) };
    return intercept(async ({ verb, signal }, next) => {
      const leave = await (verb === "exec" ? gates.commands : gates.others)(signal);
      try {
        return await next();
      } finally {
        leave();
      }
    })(inner);
  };
}

/** Entering resolves with the function that leaves. */
type Gate = (signal: AbortSignal | undefined) => Promise<() => void>;

function createGate(places: number): Gate {
  const waiting = new Set<() => void>();
  let free = places;
  const leave = (): void => {
    const [next] = waiting;
    if (next === undefined) free += 1;
    else next();
  };
  return (signal) =>
    new Promise((resolve, reject) => {
      const enter = (): void => {
        waiting.delete(enter);
        signal?.removeEventListener("abort", giveUp);
        resolve(leave);
      };
      const giveUp = (): void => {
        waiting.delete(enter);
        reject(abortError(signal as AbortSignal, { retrySafe: true }));
      };
      if (signal?.aborted) return giveUp();
      if (free > 0) {
        free -= 1;
        return enter();
      }
      waiting.add(enter);
      signal?.addEventListener("abort", giveUp, { once: true });
    });
}
