import type { AfterToolCall, AgentTool, BeforeToolCall, ToolResult } from "../../index.js";
import type { Caller } from "./caller.js";

/** One place to run tools: what `mcpTools(environment)` makes, or any tools. */
export interface McpTarget {
  readonly tools: readonly AgentTool[];
  /** Consulted before the server's own. */
  readonly beforeToolCall?: BeforeToolCall | readonly BeforeToolCall[];
  readonly afterToolCall?: AfterToolCall | readonly AfterToolCall[];
}

/** A caller's own place, for one call. */
export interface OwnTarget {
  /** The same object for as long as it is the same place: its calls share hooks, queues and order. */
  readonly target: McpTarget;
  /** To be called when the call is over, with its result if it has one. */
  leave(result: ToolResult | undefined): void;
}

/** Places that nobody shares: each caller has his own, and no word for another's. Made by `fleetTargets`. */
export interface OwnTargets {
  /** What everyone is offered, before he has a place. They are listed and never run. */
  readonly tools: readonly AgentTool[];
  /** Settles soon after the signal fires. What it rejects with is what the model is told. */
  enter(caller: Caller, signal: AbortSignal): Promise<OwnTarget>;
  /** Gives all places back. Idempotent; to be called when no call runs any more. */
  close(): Promise<void>;
}
