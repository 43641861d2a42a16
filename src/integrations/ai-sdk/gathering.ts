import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";
import type { AgentTool, CallResult, Scheduler, ToolCall } from "../../index.js";

/** A call and who wants it. */
interface Wanted {
  readonly call: ToolCall;
  readonly signal: AbortSignal | undefined;
  /** The caller's async context: traces show the tool's work below the AI SDK's own span of the call. */
  readonly context: AsyncResource;
  resolve(result: CallResult): void;
  reject(error: unknown): void;
}

export interface Gathering {
  /** Runs a call in one batch with the others of its step that are started before the event loop comes round. */
  run(call: ToolCall, step: object, signal: AbortSignal | undefined): Promise<CallResult>;
}

/**
 * The AI SDK starts the calls of a step one by one, each with a signal and a context of its own; the scheduler takes a
 * batch with one. `createScheduler` is given what makes a tool heed those of each call.
 */
export function createGathering(createScheduler: (heeding: (tool: AgentTool) => AgentTool) => Scheduler): Gathering {
  const batch = new AsyncLocalStorage<ReadonlyMap<string, Wanted>>();
  const scheduler = createScheduler((tool) => ({
    ...tool,
    async execute(parameters, options) {
      const wanted = batch.getStore()?.get(options.id);
      if (wanted === undefined) return await tool.execute(parameters, options);
      const signal = AbortSignal.any([options.signal, ...(wanted.signal === undefined ? [] : [wanted.signal])]);
      return await wanted.context.runInAsyncScope(() => tool.execute(parameters, { ...options, signal }));
    },
  }));
  // A result need not wait for those behind it.
  scheduler.onEvent((event) => {
    if (event.type === "tool_result") batch.getStore()?.get(event.id)?.resolve(event);
  });
  const steps = new Map<object, Wanted[]>();

  const runStep = async (step: object): Promise<void> => {
    const all = steps.get(step) ?? [];
    steps.delete(step);
    const everyone = whenAllAborted(all.map(({ signal }) => signal));
    const calls = all.map(({ call }) => call);
    try {
      const run = () => scheduler.runBatch(calls, { signal: everyone.signal });
      const { results } = await batch.run(new Map(all.map((wanted) => [wanted.call.id, wanted])), run);
      for (const [index, result] of results.entries()) all[index]?.resolve(result);
    } catch (error) {
      for (const { reject } of all) reject(error);
    } finally {
      everyone.forget();
    }
  };

  return {
    run: (call, step, signal) =>
      new Promise((resolve, reject) => {
        const wanted: Wanted = { call, signal, context: new AsyncResource("glovebox.tool_call"), resolve, reject };
        const others = steps.get(step);
        if (others !== undefined) {
          others.push(wanted);
          return;
        }
        steps.set(step, [wanted]);
        setImmediate(() => void runStep(step));
      }),
  };
}

/** Fires when the last of `signals` has fired: nobody wants the batch any more. */
function whenAllAborted(signals: readonly (AbortSignal | undefined)[]): { readonly signal: AbortSignal; forget(): void } {
  const controller = new AbortController();
  const check = (): void => {
    if (signals.every((signal) => signal?.aborted)) controller.abort(signals[0]?.reason);
  };
  const distinct = new Set(signals.filter((signal) => signal !== undefined));
  for (const signal of distinct) signal.addEventListener("abort", check, { once: true });
  check();
  return {
    signal: controller.signal,
    forget() {
      for (const signal of distinct) signal.removeEventListener("abort", check);
    },
  };
}
