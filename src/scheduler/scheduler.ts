import { createEmitter } from "../contract/emitter.js";
import { GloveboxError } from "../contract/errors.js";
import type { GloveboxEvent } from "../contract/events.js";
import type { AgentTool, ToolCall } from "../contract/tool.js";
import { type BatchResult, runBatch } from "./batch.js";
import type { AfterToolCall, Ask, BeforeToolCall } from "./hooks.js";
import { createPipeline } from "./pipeline.js";
import { createSlots } from "./slots.js";

export interface SchedulerOptions {
  /** All that can be called, each name once; a function is asked anew for every batch. */
  readonly tools: readonly AgentTool[] | (() => readonly AgentTool[]);
  /** Consulted in order before each call; the first that blocks has the last word. */
  readonly beforeToolCall?: BeforeToolCall | readonly BeforeToolCall[];
  /** Consulted in order after each call that ran. Updates on the way do not pass them. */
  readonly afterToolCall?: AfterToolCall | readonly AfterToolCall[];
  /** Puts a hook's question to a person. Without it such calls are blocked. */
  readonly ask?: Ask;
  /** "sequential" runs every batch one by one. Default "parallel". */
  readonly toolExecution?: "parallel" | "sequential";
  /** Calls that execute at the same time on one environment, across batches. Default: no limit. */
  readonly concurrency?: number;
  /** For each hook. Default 5,000. */
  readonly hookTimeoutMs?: number;
  /** For a person's answer. Default 300,000. */
  readonly askTimeoutMs?: number;
  /** How long an aborted call may take to settle before its result is `unknown_outcome`. Default 30,000. */
  readonly abortGraceMs?: number;
  readonly onEvent?: (event: GloveboxEvent) => void;
}

export interface BatchOptions {
  readonly signal?: AbortSignal;
}

export interface Scheduler {
  /**
   * Runs what a model proposed in one turn. Nothing that a model can say makes it reject: every failure is a result.
   * Rejects `invalid_argument` for what the host got wrong: calls that are no array, two tools of one name.
   */
  runBatch(calls: readonly ToolCall[], options?: BatchOptions): Promise<BatchResult>;
  /** Events of all batches, in order. Returns the function that unsubscribes. */
  onEvent(listener: (event: GloveboxEvent) => void): () => void;
}

/** Decides when calls run. Throws `invalid_argument` for options out of range and for two tools of one name. */
export function createScheduler(options: SchedulerOptions): Scheduler {
  const concurrency = options.concurrency ?? Number.POSITIVE_INFINITY;
  if (concurrency !== Number.POSITIVE_INFINITY && !(Number.isSafeInteger(concurrency) && concurrency >= 1)) {
    throw new GloveboxError("invalid_argument", `concurrency must be a whole number of 1 or more, not ${concurrency}.`);
  }
  if (typeof options.tools !== "function") byName(options.tools);
  const emitter = createEmitter();
  if (options.onEvent !== undefined) emitter.onEvent(options.onEvent);
  const pipeline = createPipeline({
    beforeToolCall: [options.beforeToolCall ?? []].flat(),
    afterToolCall: [options.afterToolCall ?? []].flat(),
    ask: options.ask,
    hookTimeoutMs: milliseconds("hookTimeoutMs", options.hookTimeoutMs ?? 5_000),
    askTimeoutMs: milliseconds("askTimeoutMs", options.askTimeoutMs ?? 300_000),
    abortGraceMs: milliseconds("abortGraceMs", options.abortGraceMs ?? 30_000),
    slots: createSlots(concurrency),
    emit: emitter.emit,
  });
  return {
    async runBatch(calls, { signal } = {}) {
      if (!Array.isArray(calls)) throw new GloveboxError("invalid_argument", "runBatch takes an array of tool calls.");
      const tools = byName(typeof options.tools === "function" ? options.tools() : options.tools);
      return await runBatch({ calls, tools, pipeline, oneByOne: options.toolExecution === "sequential", emit: emitter.emit }, signal);
    },
    onEvent: emitter.onEvent,
  };
}

function byName(tools: readonly AgentTool[]): ReadonlyMap<string, AgentTool> {
  const named = new Map(tools.map((tool) => [tool.name, tool]));
  if (named.size === tools.length) return named;
  const twice = tools.find((tool) => named.get(tool.name) !== tool)?.name;
  throw new GloveboxError("invalid_argument", `Two tools are named ${JSON.stringify(twice)}: a call could mean either. Leave one out.`);
}

function milliseconds(option: string, value: number): number {
  // Beyond 2^31 - 1 a timer fires at once.
  if (value > 0 && value < 2 ** 31) return value;
  throw new GloveboxError("invalid_argument", `${option} must be a number of milliseconds above 0 and below 2^31, not ${value}.`);
}
