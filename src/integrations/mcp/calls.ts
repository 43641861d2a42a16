import {
  type CallToolRequestParams,
  type CallToolResult,
  type ClientCapabilities,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
  type Tool,
} from "@modelcontextprotocol/server";
import {
  type AfterToolCall,
  type Ask,
  type BeforeToolCall,
  createScheduler,
  errorResult,
  GloveboxError,
  type GloveboxEvent,
  type Scheduler,
  type ToolResult,
} from "../../index.js";
import { type Approvals, askThrough, type Consent, createApprovals } from "./approval.js";
import { type Caller, callerId } from "./caller.js";
import { createOffers, type Offer, ONLY_PLACE, type Places } from "./offers.js";
import { createProgressReporter, type ProgressReporter } from "./progress.js";
import { toCallToolResult } from "./result.js";
import type { McpTarget, OwnTarget, OwnTargets } from "./targets.js";
import { createTurnstile } from "./turnstile.js";

export interface CallsOptions {
  readonly targets: ReadonlyMap<string, McpTarget>;
  /** With these, `targets` says only what there is to list. */
  readonly ownTargets: OwnTargets | undefined;
  readonly structured: boolean;
  /** Consulted after the targets' own, as are those below. */
  readonly beforeToolCall: readonly BeforeToolCall[];
  readonly afterToolCall: readonly AfterToolCall[];
  readonly ask: Ask | undefined;
  readonly concurrency: number | undefined;
  readonly callTimeoutMs: number;
  readonly maxCallsPerCaller: number;
  readonly onEvent: ((event: GloveboxEvent) => void) | undefined;
}

/** Everything that is called, by whatever client over whatever connection. */
export interface Calls {
  readonly approvals: Approvals;
  /** The same for the same caller, always. */
  list(caller: Caller): readonly Tool[];
  call(params: CallToolRequestParams, request: CallRequest): Promise<CallToolResult | InputRequiredResult>;
  /** Stops what runs, and lets nothing start any more. Resolves when all of it has settled. */
  stop(reason: GloveboxError): Promise<void>;
  readonly running: number;
}

export interface CallRequest {
  readonly caller: Caller;
  readonly context: ServerContext;
  readonly capabilities: ClientCapabilities | undefined;
  /** Fires when the connection is gone. */
  readonly connection: AbortSignal;
}

interface Running {
  readonly callerId: string;
  readonly consent: Consent;
  readonly progress: ProgressReporter;
  readonly controller: AbortController;
}

/**
 * Runs single calls as the scheduler runs a batch: one scheduler for each target, one turnstile for all of them, so that
 * the sequential veto, hooks and mutation queues hold across clients. Throws `invalid_argument` for tools that collide.
 */
export function createCalls(options: CallsOptions): Calls {
  const { targets, ownTargets, callTimeoutMs, maxCallsPerCaller } = options;
  const places: Places = new Map([...targets].map(([name, { tools }]) => [name, tools]));
  const offers = createOffers(places, options.structured);
  const approvals = createApprovals();
  const turnstile = createTurnstile();
  const running = new Map<string, Running>();
  const waitForIdle: (() => void)[] = [];
  let started = 0;
  let stopped: GloveboxError | undefined;

  const onEvent = (event: GloveboxEvent): void => {
    if (event.type === "tool_execution_update") running.get(event.id)?.progress.report(event.update);
    options.onEvent?.(event);
  };
  const ask = options.ask ?? askThrough((id) => running.get(id)?.consent);
  const schedulers = new WeakMap<McpTarget, Scheduler>();
  const schedulerOf = (target: McpTarget): Scheduler => {
    const known = schedulers.get(target);
    if (known !== undefined) return known;
    const beforeToolCall = [...[target.beforeToolCall ?? []].flat(), ...options.beforeToolCall];
    const afterToolCall = [...[target.afterToolCall ?? []].flat(), ...options.afterToolCall];
    const { tools } = target;
    const made = createScheduler({ tools, beforeToolCall, afterToolCall, ask, concurrency: options.concurrency, onEvent });
    schedulers.set(target, made);
    return made;
  };
  for (const target of targets.values()) schedulerOf(target);

  const reachable = (offer: Offer, { targets }: Caller): readonly string[] =>
    [...offer.tools.keys()].filter((place) => place === ONLY_PLACE || targets === undefined || targets.includes(place));

  /** The place that the arguments name, and the arguments without it. */
  const locate = (offer: Offer, caller: Caller, given: Readonly<Record<string, unknown>>) => {
    if (offer.tools.has(ONLY_PLACE)) return { place: ONLY_PLACE, rest: given };
    const { target, ...rest } = given;
    const known = reachable(offer, caller);
    if (typeof target === "string" && known.includes(target)) return { place: target, rest };
    const came = target === undefined ? "none was given" : "what was given is none of these";
    const message = `${offer.name} did not run: it needs a target, one of ${known.join(", ")}, and ${came}. Call it again with the target it is meant for.`;
    throw new GloveboxError("invalid_argument", message, { retrySafe: true });
  };

  const run = async (target: McpTarget, name: string, given: unknown, id: string, signal: AbortSignal): Promise<ToolResult> => {
    const tool = target.tools.find((each) => each.name === name);
    const leave = await turnstile.enter({ environmentId: tool?.environmentId, alone: tool?.executionMode === "sequential" }, signal);
    try {
      const { results } = await schedulerOf(target).runBatch([{ id, name, arguments: given }], { signal });
      const [result] = results;
      if (result === undefined) throw new GloveboxError("unexpected", `${name} gave no result. Try once more.`);
      return result;
    } finally {
      leave();
    }
  };

  const runOwn = async (own: OwnTarget, name: string, given: unknown, id: string, signal: AbortSignal): Promise<ToolResult> => {
    let result: ToolResult | undefined;
    try {
      result = await run(own.target, name, given, id, signal);
      return result;
    } finally {
      own.leave(result);
    }
  };

  const located = async (
    offer: Offer,
    caller: Caller,
    given: Readonly<Record<string, unknown>>,
    id: string,
    signal: AbortSignal,
  ): Promise<ToolResult> => {
    try {
      const { place, rest } = locate(offer, caller, given);
      if (ownTargets !== undefined) return await runOwn(await ownTargets.enter(caller, signal), offer.name, rest, id, signal);
      const target = targets.get(place);
      if (target === undefined) throw new GloveboxError("unexpected", `There is no target ${JSON.stringify(place)}. Try another.`);
      return await run(target, offer.name, rest, id, signal);
    } catch (error) {
      return errorResult(error);
    }
  };

  const list = (caller: Caller): readonly Tool[] =>
    [...offers.values()].flatMap((offer) => {
      const known = reachable(offer, caller);
      return known.length === 0 ? [] : [offer.listing(known)];
    });

  return {
    approvals,
    list,
    get running() {
      return running.size;
    },

    async call({ name, arguments: given = {} }, { caller, context, capabilities, connection }) {
      const offer = offers.get(name);
      if (offer === undefined || reachable(offer, caller).length === 0) throw unknownTool(name, list(caller));
      if (stopped !== undefined) return toCallToolResult(errorResult(stopped), undefined);
      if ([...running.values()].filter((other) => other.callerId === callerId(caller)).length >= maxCallsPerCaller) {
        return toCallToolResult(errorResult(tooMany(name, maxCallsPerCaller)), undefined);
      }
      started += 1;
      const id = `${caller.name}:${started}`;
      const controller = new AbortController();
      const consent = approvals.forRequest(context, capabilities);
      const unlink = linkAbort(controller, [context.mcpReq.signal, connection], callTimeoutMs, name);
      running.set(id, { callerId: callerId(caller), consent, progress: createProgressReporter(context), controller });
      try {
        const result = await located(offer, caller, given, id, controller.signal);
        if (!consent.open) return toCallToolResult(result, offer.requiredFields);
        const answer = await consent.answer(name);
        return answer instanceof GloveboxError ? toCallToolResult(errorResult(answer), offer.requiredFields) : answer;
      } finally {
        unlink();
        running.delete(id);
        if (running.size === 0) for (const idle of waitForIdle.splice(0)) idle();
      }
    },

    async stop(reason) {
      stopped = reason;
      for (const { controller } of running.values()) controller.abort(reason);
      if (running.size > 0) await new Promise<void>((resolve) => waitForIdle.push(resolve));
    },
  };
}

/** Aborts when one of the signals fires, and after the time that a call may take. Returns what must be called at the end. */
function linkAbort(controller: AbortController, signals: readonly AbortSignal[], timeoutMs: number, name: string): () => void {
  const timer = setTimeout(() => controller.abort(tookTooLong(name, timeoutMs)), timeoutMs);
  const links = signals.map((signal) => {
    const forward = (): void => controller.abort(signal.reason);
    if (signal.aborted) forward();
    else signal.addEventListener("abort", forward, { once: true });
    return () => signal.removeEventListener("abort", forward);
  });
  return () => {
    clearTimeout(timer);
    for (const unlink of links) unlink();
  };
}

function tookTooLong(name: string, timeoutMs: number): GloveboxError {
  const message = `${name} was stopped after ${timeoutMs / 1000} seconds, waiting included: a call of this server takes no longer, so that the client does not give up on it. Make it do less at a time.`;
  return new GloveboxError("timeout", message);
}

function tooMany(name: string, max: number): GloveboxError {
  const message = `${name} did not run: this client has ${max} calls running, and more are not taken. Wait for some of them, then call it again.`;
  return new GloveboxError("busy", message, { retrySafe: true });
}

function unknownTool(name: string, known: readonly Tool[]): ProtocolError {
  const shown = name.length > 100 ? `${name.slice(0, 100)}…` : name;
  const names = known.map((tool) => tool.name).join(", ") || "none";
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool named ${JSON.stringify(shown)}. The tools here: ${names}.`);
}
