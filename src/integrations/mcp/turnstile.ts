/** Where a call is to run, and whether it must be alone there. */
export interface Passage {
  /** The environment; undefined for a tool that is bound to none. */
  readonly environmentId: string | undefined;
  /** Alone on its environment; with no environment, alone everywhere. */
  readonly alone: boolean;
}

export interface Turnstile {
  /**
   * Resolves when the call may run, with the function that must be called when it has. Calls that do not exclude each
   * other run together; one that must be alone waits for those before it and holds back those behind it, so none is
   * starved. A call whose signal fires while it waits leaves the line and resolves at once: it holds nobody back then.
   */
  enter(passage: Passage, signal: AbortSignal): Promise<() => void>;
  /** Calls that run or wait. */
  readonly size: number;
}

interface Visitor extends Passage {
  started: boolean;
  start(): void;
}

/**
 * The scheduler's sequential veto for calls that come one by one instead of in a batch: whoever runs or waits at the same
 * time, from whatever client, counts as the batch.
 */
export function createTurnstile(): Turnstile {
  const line = new Set<Visitor>();
  let loners = 0;

  const mayStart = (visitor: Visitor): boolean => {
    if (loners === 0) return true;
    for (const before of line) {
      if (before === visitor) return true;
      if (exclude(before, visitor)) return false;
    }
    return true;
  };
  const leave = (visitor: Visitor): void => {
    if (!line.delete(visitor)) return;
    if (visitor.alone) loners -= 1;
    for (const waiting of line) if (!waiting.started && mayStart(waiting)) waiting.start();
  };

  return {
    get size() {
      return line.size;
    },
    async enter({ environmentId, alone }, signal) {
      if (signal.aborted) return () => undefined;
      return await new Promise((resolve) => {
        const giveUp = (): void => {
          leave(visitor);
          resolve(() => undefined);
        };
        const visitor: Visitor = {
          environmentId,
          alone,
          started: false,
          start() {
            visitor.started = true;
            signal.removeEventListener("abort", giveUp);
            resolve(() => leave(visitor));
          },
        };
        line.add(visitor);
        if (alone) loners += 1;
        if (mayStart(visitor)) visitor.start();
        else signal.addEventListener("abort", giveUp, { once: true });
      });
    },
  };
}

function exclude(one: Passage, other: Passage): boolean {
  if (!one.alone && !other.alone) return false;
  if (one.environmentId === other.environmentId) return true;
  return (one.alone && one.environmentId === undefined) || (other.alone && other.environmentId === undefined);
}
