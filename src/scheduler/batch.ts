import PQueue from "p-queue";
import type { GloveboxError } from "../contract/errors.js";
import type { GloveboxEvent } from "../contract/events.js";
import type { AgentTool, ToolCall, ToolResult } from "../contract/tool.js";
import { errorResult } from "../contract/tool-result.js";
import { groupCalls } from "./groups.js";
import type { Executed, Pipeline, ReadyCall } from "./pipeline.js";
import { duplicateId, malformedCall, unknownTool } from "./refusals.js";

export type CallResult = ToolResult & Pick<ToolCall, "id" | "name">;

export interface BatchResult {
  /** One for each call, in the order of the calls. */
  readonly results: readonly CallResult[];
  /** Whether every result asks the agent's loop to end. False for an empty batch. */
  readonly terminate: boolean;
}

export interface Batch {
  readonly calls: readonly ToolCall[];
  readonly tools: ReadonlyMap<string, AgentTool>;
  readonly pipeline: Pipeline;
  /** The global switch. */
  readonly oneByOne: boolean;
  emit(event: GloveboxEvent): void;
}

interface Entry {
  readonly index: number;
  readonly call: ToolCall;
  readonly tool: AgentTool | undefined;
  readonly refusal: GloveboxError | undefined;
  /** A signal for each call: many listeners on the caller's one would make Node warn of a leak. */
  readonly controller: AbortController;
}

/**
 * The three phases: steps 1 to 3 of one call at a time, in source order; execution together or, in a group under the
 * sequential veto, each call's steps 4 and 5 before the next one's step 1; ends as they come and results in source order.
 */
export async function runBatch({ calls, tools, pipeline, oneByOne, emit }: Batch, signal: AbortSignal | undefined): Promise<BatchResult> {
  const startedMs = performance.now();
  const entries = identify(calls, tools);
  const results: CallResult[] = [];
  let told = 0;
  emit({ type: "batch_start", calls: entries.map(({ call }) => call) });

  const finish = ({ index, call: { id, name } }: Entry, { result, durationMs }: Executed): void => {
    results[index] = { ...result, id, name };
    emit({ type: "tool_execution_end", id, name, isError: result.isError, durationMs });
    for (let next = results[told]; next !== undefined; next = results[told]) {
      told += 1;
      emit({ type: "tool_result", ...next });
    }
  };

  // The waiting call that comes first in the batch is always next.
  const preparations = new PQueue({ concurrency: 1 });
  const prepare = async (entry: Entry): Promise<ReadyCall | undefined> =>
    await preparations.add(
      async () => {
        const { call, tool, refusal, controller } = entry;
        emit({ type: "tool_execution_start", ...call });
        try {
          if (tool === undefined) throw refusal;
          return await pipeline.prepare(call, tool, controller.signal);
        } catch (error) {
          finish(entry, { result: errorResult(error), durationMs: 0 });
          return undefined;
        }
      },
      { priority: -entry.index },
    );
  const execute = async (entry: Entry, ready: ReadyCall | undefined): Promise<void> => {
    if (ready !== undefined) finish(entry, await pipeline.execute(ready, entry.controller.signal));
  };

  const abort = (): void => {
    for (const { controller } of entries) controller.abort(signal?.reason);
  };
  if (signal?.aborted) abort();
  else signal?.addEventListener("abort", abort, { once: true });
  await Promise.all(
    groupCalls(entries, oneByOne).map(async (group) => {
      if (group.oneByOne) {
        for (const entry of group.entries) await execute(entry, await prepare(entry));
        return;
      }
      const ready = await Promise.all(group.entries.map(prepare));
      await Promise.all(group.entries.map((entry, index) => execute(entry, ready[index])));
    }),
  );
  signal?.removeEventListener("abort", abort);

  const errors = results.filter(({ isError }) => isError).length;
  emit({ type: "batch_end", results: results.length, errors, durationMs: performance.now() - startedMs });
  return { results, terminate: results.length > 0 && results.every(({ terminate }) => terminate === true) };
}

/** Each call with its tool, or with the reason why it has none. */
function identify(calls: readonly ToolCall[], tools: ReadonlyMap<string, AgentTool>): readonly Entry[] {
  const uses = new Map<string, number>();
  for (const call of calls as readonly unknown[]) if (isCall(call)) uses.set(call.id, (uses.get(call.id) ?? 0) + 1);
  return calls.map((given: unknown, index) => {
    const controller = new AbortController();
    if (!isCall(given)) {
      const call = { id: "", name: "", arguments: given };
      return { index, call, tool: undefined, refusal: malformedCall(), controller };
    }
    const { id, name } = given;
    const call: ToolCall = Object.freeze({ id, name, arguments: given.arguments });
    if (uses.get(id) !== 1) return { index, call, tool: undefined, refusal: duplicateId(call), controller };
    const tool = tools.get(name);
    return { index, call, tool, refusal: tool === undefined ? unknownTool(name, [...tools.keys()]) : undefined, controller };
  });
}

function isCall(value: unknown): value is ToolCall {
  if (typeof value !== "object" || value === null) return false;
  const { id, name } = value as Partial<ToolCall>;
  return typeof id === "string" && typeof name === "string";
}
