import { textResult } from "../contract/tool-result.js";

/** Least time between two updates of one call. */
const UPDATE_INTERVAL_MS = 100;
/** How often a call that has nothing to show yet says that it is still at it. */
const HEARTBEAT_MS = 1000;

export interface Throttle {
  /** Something is new: emits at once if the last emission is long enough ago, else when it is. */
  poke(): void;
  /** Drops what is pending. Nothing is emitted after it. */
  stop(): void;
}

/** Calls `emit` at most every 100 ms, the first time at once. A listener that throws harms nobody. */
export function createThrottle(emit: () => void): Throttle {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let lastMs = Number.NEGATIVE_INFINITY;
  let stopped = false;
  const fire = (): void => {
    timer = undefined;
    lastMs = performance.now();
    unharmed(emit);
  };
  return {
    poke() {
      if (stopped || timer !== undefined) return;
      const waitMs = lastMs + UPDATE_INTERVAL_MS - performance.now();
      if (waitMs <= 0) fire();
      else timer = setTimeout(fire, waitMs);
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** Awaits `job`; for each second that it takes, an update with the text that `describe` makes of the seconds so far. */
export async function withHeartbeat<T>(
  onUpdate: (update: ReturnType<typeof textResult>) => void,
  describe: (seconds: number) => string,
  job: () => Promise<T>,
): Promise<T> {
  const startedMs = performance.now();
  const beat = (): void => onUpdate(textResult(describe(Math.round((performance.now() - startedMs) / 1000))));
  const timer = setInterval(() => unharmed(beat), HEARTBEAT_MS);
  timer.unref();
  try {
    return await job();
  } finally {
    clearInterval(timer);
  }
}

/** Progress is a courtesy: the call goes on whatever becomes of it. */
function unharmed(emit: () => void): void {
  try {
    emit();
  } catch {}
}
