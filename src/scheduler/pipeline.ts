import { GloveboxError } from "../contract/errors.js";
import type { GloveboxEvent } from "../contract/events.js";
import type { Sha256 } from "../contract/operations.js";
import type { AgentTool, ToolCall, ToolResult } from "../contract/tool.js";
import { errorResult } from "../contract/tool-result.js";
import { type Outcome, withDeadline, withGrace } from "./deadline.js";
import { type AfterToolCall, type Ask, type BeforeToolCall, deepFreeze, type HookContext, readVerdict } from "./hooks.js";
import * as refusals from "./refusals.js";
import { readResult, rejectedResult, replaceFields, saidBy } from "./results.js";
import type { Slots } from "./slots.js";

/** A call that may run: `arguments` are prepared, validated, allowed and frozen. */
export interface ReadyCall {
  readonly call: ToolCall;
  readonly tool: AgentTool;
  /** What a hook wants its file to be before it changes it. */
  readonly ifMatch?: Sha256 | null;
}

export interface Executed {
  readonly result: ToolResult;
  /** In `execute`; 0 when it never began. */
  readonly durationMs: number;
}

/** The five steps of one call. */
export interface Pipeline {
  /** Steps 1 to 3: prepareArguments, validate, beforeToolCall. Rejects with the GloveboxError that says why it may not run. */
  prepare(call: ToolCall, tool: AgentTool, signal: AbortSignal): Promise<ReadyCall>;
  /** Steps 4 and 5: execute, afterToolCall. Never rejects. */
  execute(ready: ReadyCall, signal: AbortSignal): Promise<Executed>;
}

export interface PipelineOptions {
  readonly beforeToolCall: readonly BeforeToolCall[];
  readonly afterToolCall: readonly AfterToolCall[];
  readonly ask: Ask | undefined;
  readonly hookTimeoutMs: number;
  readonly askTimeoutMs: number;
  readonly abortGraceMs: number;
  readonly slots: Slots;
  emit(event: GloveboxEvent): void;
}

export function createPipeline(options: PipelineOptions): Pipeline {
  const { hookTimeoutMs, askTimeoutMs, abortGraceMs, slots, emit } = options;

  return {
    async prepare({ id, name, arguments: proposed }, tool, signal) {
      if (signal.aborted) throw refusals.neverStarted(name, signal);
      const given = proposed === undefined ? {} : proposed;
      let ready = readyCall(
        id,
        tool,
        attempt(tool, () => (tool.prepareArguments === undefined ? given : tool.prepareArguments(given))),
      );
      for (const hook of options.beforeToolCall) ready = await consult(hook, ready, signal);
      return ready;
    },

    async execute(ready, signal) {
      const { call, tool, ifMatch } = ready;
      let startedMs: number | undefined;
      let lastUpdate: ToolResult | undefined;
      let open = true;
      const job = async (): Promise<ToolResult> => {
        startedMs = performance.now();
        try {
          return await tool.execute(call.arguments, {
            id: call.id,
            signal,
            ...(ifMatch === undefined ? {} : { ifMatch }),
            onUpdate(answer) {
              const update = readResult(answer);
              if (!open || update === undefined) return;
              lastUpdate = update;
              emit({ type: "tool_execution_update", id: call.id, name: call.name, update });
            },
            onQueued(key, waiting) {
              if (open) emit({ type: "mutation_queued", key, waiting });
            },
          });
        } finally {
          open = false;
        }
      };
      const outcome = await withGrace(abortGraceMs, signal, slots(tool.environmentId, signal, job));
      open = false;
      if (startedMs === undefined) return { result: errorResult(refusals.neverStarted(call.name, signal)), durationMs: 0 };
      const durationMs = performance.now() - startedMs;
      return { result: await review(ready, toResult(call.name, outcome, signal, lastUpdate)), durationMs };
    },
  };

  function readyCall(id: string, tool: AgentTool, candidate: unknown): ReadyCall {
    const validation = attempt(tool, () => tool.validate(candidate));
    if (!validation.ok) throw refusals.invalidArguments(tool.name, validation.issues);
    return { call: Object.freeze({ id, name: tool.name, arguments: deepFreeze(validation.value) }), tool };
  }

  function contextOf({ call, tool }: ReadyCall, signal: AbortSignal): HookContext {
    return { call, tool, arguments: call.arguments, signal };
  }

  function hookFailed(hook: "beforeToolCall" | "afterToolCall" | "ask", { id, name }: ToolCall, message: string): void {
    emit({ type: "hook_failed", id, name, hook, message });
  }

  async function consult(hook: BeforeToolCall, ready: ReadyCall, signal: AbortSignal): Promise<ReadyCall> {
    const { call, tool } = ready;
    const outcome = await withDeadline<unknown>(hookTimeoutMs, signal, (own) => hook(contextOf(ready, own)));
    const verdict = readVerdict(settledValue("beforeToolCall", call, outcome, hookTimeoutMs, signal));
    switch (verdict.kind) {
      case "allow":
        return ready;
      case "block":
        throw refusals.blocked(call.name, verdict.reason);
      case "ask":
        await askPerson(verdict.question, ready, signal);
        return ready;
      case "replace":
        try {
          return { ...ready, ...readyCall(call.id, tool, verdict.arguments) };
        } catch (error) {
          hookFailed("beforeToolCall", call, `it replaced the arguments with invalid ones: ${saidBy(error)}`);
          throw refusals.hookFailed(call.name, "unexpected");
        }
      case "expect":
        return { ...ready, ifMatch: verdict.ifMatch };
      case "unknown":
        hookFailed(
          "beforeToolCall",
          call,
          "it returned something else than undefined, { block, reason }, { ask }, { arguments } or { ifMatch }",
        );
        throw refusals.hookFailed(call.name, "unexpected");
    }
  }

  async function askPerson(question: string, ready: ReadyCall, signal: AbortSignal): Promise<void> {
    const { ask } = options;
    const { call } = ready;
    if (ask === undefined) throw refusals.nobodyToAsk(call.name);
    const outcome = await withDeadline(askTimeoutMs, signal, (own) => ask({ ...contextOf(ready, own), question }));
    if (outcome.kind === "expired") throw refusals.nobodyAnswered(call.name, askTimeoutMs);
    const decision = settledValue("ask", call, outcome, askTimeoutMs, signal);
    if (decision?.allow === true) return;
    throw refusals.denied(call.name, typeof decision?.reason === "string" ? decision.reason : undefined);
  }

  /** What a hook that gates the call answered; throws the refusal that any other outcome means. */
  function settledValue<Value>(
    hook: "beforeToolCall" | "ask",
    call: ToolCall,
    outcome: Outcome<Value>,
    timeoutMs: number,
    signal: AbortSignal,
  ): Value {
    switch (outcome.kind) {
      case "settled":
        return outcome.value;
      case "aborted":
        throw refusals.neverStarted(call.name, signal);
      case "expired":
        hookFailed(hook, call, `it did not answer within ${timeoutMs} ms`);
        throw refusals.hookFailed(call.name, "timeout");
      case "failed":
        hookFailed(hook, call, saidBy(outcome.error));
        throw refusals.hookFailed(call.name, "unexpected");
    }
  }

  function toResult(name: string, outcome: Outcome<ToolResult>, signal: AbortSignal, lastUpdate: ToolResult | undefined): ToolResult {
    if (outcome.kind === "failed") return rejectedResult(name, outcome.error, signal, lastUpdate);
    if (outcome.kind !== "settled") return rejectedResult(name, neverStopped(name, abortGraceMs), signal, lastUpdate);
    return readResult(outcome.value) ?? errorResult(noResult(name));
  }

  /** Step 5. Whatever goes wrong, the result that was to be checked does not get out. */
  async function review(ready: ReadyCall, first: ToolResult): Promise<ToolResult> {
    const { call } = ready;
    let result = first;
    for (const hook of options.afterToolCall) {
      const outcome = await withDeadline<unknown>(hookTimeoutMs, undefined, (own) => hook({ ...contextOf(ready, own), result }));
      try {
        if (outcome.kind === "failed") throw outcome.error;
        if (outcome.kind !== "settled") throw new Error(`it did not answer within ${hookTimeoutMs} ms`);
        result = replaceFields(result, outcome.value);
      } catch (error) {
        hookFailed("afterToolCall", call, saidBy(error));
        return errorResult(withheld(call.name, outcome.kind === "expired" ? "timeout" : "unexpected"));
      }
    }
    return result;
  }
}

/** What the tool makes of arguments, which should not throw, but runs on what a model made up. */
function attempt<Value>(tool: AgentTool, step: () => Value): Value {
  try {
    return step();
  } catch (error) {
    throw refusals.unusableArguments(tool.name, saidBy(error));
  }
}

function noResult(name: string): GloveboxError {
  return new GloveboxError(
    "unexpected",
    `${name} ran, but what it answered is not a result, so what it did is not known. Check the state before calling it again.`,
  );
}

function neverStopped(name: string, graceMs: number): GloveboxError {
  return new GloveboxError(
    "unknown_outcome",
    `${name} was told to stop and had not stopped ${graceMs / 1000} s later: it may still be running, and what it did is not known. What it writes to stays locked until it ends. Check the state before going on.`,
  );
}

function withheld(name: string, code: "unexpected" | "timeout"): GloveboxError {
  const what = code === "timeout" ? "did not answer in time" : "failed";
  return new GloveboxError(
    code,
    `${name} ran, but its result is withheld: a check that every result has to pass ${what}. What it did is done: check the state before calling it again.`,
  );
}
