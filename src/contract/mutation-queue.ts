import { AsyncLocalStorage } from "node:async_hooks";
import PQueue from "p-queue";
import { abortError } from "./errors.js";

/*
 * One registry per process, even when two copies of this package are loaded: two wrappings, two tool sets and two
 * schedulers on one target share it.
 */
const REGISTRY = Symbol.for("glovebox.mutation-queues");
const shared = globalThis as { [REGISTRY]?: Map<string, PQueue> };
shared[REGISTRY] ??= new Map<string, PQueue>();
const queues: Map<string, PQueue> = shared[REGISTRY];

interface Holding {
  readonly keys: ReadonlySet<string>;
  active: boolean;
}

const held = new AsyncLocalStorage<Holding>();

export interface MutationOptions {
  readonly signal?: AbortSignal;
  /** Called when the job has to wait; `waiting` is how many stand before it. */
  onQueued?(key: string, waiting: number): void;
}

/**
 * Runs `job` alone among all jobs of this process that share one of `keys`, in order of submission. Keys that the calling
 * job already holds are not taken again. Several keys are taken in sorted order. A job that fails or whose signal fires
 * releases its keys when it has settled, never before; one whose signal fires while it waits never runs and rejects at once.
 */
export async function withMutationKeys<T>(keys: readonly string[], job: () => Promise<T>, options: MutationOptions = {}): Promise<T> {
  const outer = held.getStore();
  const mine = outer?.active ? outer.keys : new Set<string>();
  const wanted = [...new Set(keys)].filter((key) => !mine.has(key)).sort();
  const enter = async (index: number): Promise<T> => {
    const key = wanted[index];
    if (key !== undefined) return await inTurn(key, () => enter(index + 1), options);
    const holding: Holding = { keys: new Set([...mine, ...wanted]), active: true };
    try {
      return await held.run(holding, job);
    } finally {
      holding.active = false;
    }
  };
  return await enter(0);
}

/** How many keys are in use: 0 when all is idle. */
export function mutationKeysInUse(): number {
  return queues.size;
}

function inTurn<T>(key: string, job: () => Promise<T>, { signal, onQueued }: MutationOptions): Promise<T> {
  let queue = queues.get(key);
  if (queue === undefined) {
    queue = new PQueue({ concurrency: 1 });
    queues.set(key, queue);
  }
  const own = queue;
  const waiting = own.size + own.pending;
  if (waiting > 0) onQueued?.(key, waiting);
  return new Promise<T>((resolve, reject) => {
    // p-queue's own `signal` would free the key while an aborted job is still writing.
    const leave = (): void => reject(abortError(signal as AbortSignal));
    if (signal?.aborted) {
      leave();
    } else {
      signal?.addEventListener("abort", leave, { once: true });
    }
    void own
      .add(async () => {
        signal?.removeEventListener("abort", leave);
        if (signal?.aborted) return;
        await job().then(resolve, reject);
      })
      .finally(() => {
        if (own.size + own.pending === 0 && queues.get(key) === own) queues.delete(key);
      });
  });
}
