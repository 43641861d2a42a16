import { AsyncResource } from "node:async_hooks";
import PQueue from "p-queue";
import { abortError } from "../contract/errors.js";

/** Runs `job` when its environment has a slot free. A job whose signal fires while it waits never runs and rejects `aborted`. */
export type Slots = <Value>(environmentId: string | undefined, signal: AbortSignal, job: () => Promise<Value>) => Promise<Value>;

/** At most `perEnvironment` jobs at a time on each environment, first come first. Jobs bound to none are not counted. */
export function createSlots(perEnvironment: number): Slots {
  const queues = new Map<string, { readonly queue: PQueue; members: number }>();
  return async (environmentId, signal, job) => {
    if (signal.aborted) throw abortError(signal);
    if (environmentId === undefined || perEnvironment === Number.POSITIVE_INFINITY) return await job();
    const line = queues.get(environmentId) ?? { queue: new PQueue({ concurrency: perEnvironment }), members: 0 };
    queues.set(environmentId, line);
    line.members += 1;
    // As in the mutation queue: p-queue may take a waiting job out of the line, never let go of a running one.
    const departure = new AbortController();
    const depart = (): void => departure.abort(abortError(signal));
    signal.addEventListener("abort", depart, { once: true });
    const turn = AsyncResource.bind(async () => {
      signal.removeEventListener("abort", depart);
      return await job();
    });
    try {
      return await line.queue.add(turn, { signal: departure.signal });
    } finally {
      line.members -= 1;
      if (line.members === 0) queues.delete(environmentId);
    }
  };
}
