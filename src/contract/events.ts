import type { ToolCall, ToolResult } from "./tool.js";

/**
 * Everything Glovebox reports, one union told apart by `type`. Delivered in order to each listener; a listener that throws
 * or is slow harms nobody. Event types and fields are API.
 */
export type GloveboxEvent =
  | { readonly type: "batch_start"; readonly calls: readonly ToolCall[] }
  | { readonly type: "tool_execution_start"; readonly id: string; readonly name: string; readonly arguments: unknown }
  | { readonly type: "tool_execution_update"; readonly id: string; readonly name: string; readonly update: ToolResult }
  | {
      readonly type: "tool_execution_end";
      readonly id: string;
      readonly name: string;
      readonly isError: boolean;
      readonly durationMs: number;
    }
  | ({ readonly type: "tool_result"; readonly id: string; readonly name: string } & ToolResult)
  /** For the host only: what a hook threw, or that it did not answer in time. The model is not told. */
  | {
      readonly type: "hook_failed";
      readonly id: string;
      readonly name: string;
      readonly hook: "beforeToolCall" | "afterToolCall" | "ask";
      readonly message: string;
    }
  | { readonly type: "batch_end"; readonly results: number; readonly errors: number; readonly durationMs: number }
  | { readonly type: "mutation_queued"; readonly key: string; readonly waiting: number }
  | { readonly type: "target_connected"; readonly target: string }
  | { readonly type: "target_lost"; readonly target: string; readonly message: string }
  | { readonly type: "target_restored"; readonly target: string }
  | { readonly type: "target_breaker"; readonly target: string; readonly state: "open" | "half_open" | "closed" }
  | { readonly type: "target_swept"; readonly target: string; readonly removed: number; readonly what: string }
  | { readonly type: "target_closed"; readonly target: string }
  /** An act of a fleet's lifecycle, after it was done. `key` and `tenant` are known only for users who asked this process. */
  | {
      readonly type: "fleet_act";
      readonly fleet: string;
      readonly act: FleetAct;
      /** The sandbox's name at the engine, or the volume's; "" for acts on the engine as a whole. */
      readonly sandbox: string;
      readonly key?: string;
      readonly tenant?: string;
      readonly durationMs?: number;
      readonly message?: string;
    };

export type FleetAct =
  | "created"
  | "claimed"
  | "leased"
  | "released"
  | "resumed"
  | "started"
  | "paused"
  | "stopped"
  | "removed"
  /** Found without an owner, and taken over. */
  | "adopted"
  /** What a dead process left half made or half removed is gone now. */
  | "reclaimed"
  /** Given up to another process that asked for it. */
  | "yielded"
  | "spec_changed"
  | "replaced"
  /** It has its user's name again: its replacement was never finished. */
  | "restored"
  /** Its workspace holds more than it may. */
  | "over_quota"
  /** It vanished, or stopped, by someone else's act. */
  | "lost"
  /** It bears this fleet's id without its seal, and is left alone. */
  | "foreign"
  | "failed"
  | "engine_lost"
  | "engine_restored";
