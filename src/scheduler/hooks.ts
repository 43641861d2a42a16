import type { Sha256 } from "../contract/operations.js";
import type { AgentTool, ToolCall, ToolResult } from "../contract/tool.js";

/** What a hook is told. `arguments`, frozen through and through, is what would run, and `call.arguments` is the same value. */
export interface HookContext {
  readonly call: ToolCall;
  readonly tool: AgentTool;
  /** Prepared and validated. */
  readonly arguments: unknown;
  /** Fires when the hook's time is up, so that it can stop what it waits for. */
  readonly signal: AbortSignal;
}

/**
 * A hook's word on a call. Nothing returned: it may run. Anything else than these blocks it, as does a throw or no
 * answer in time.
 */
export type BeforeToolCallVerdict =
  | undefined
  /** `reason` is for the model. */
  | { readonly block: boolean; readonly reason?: string }
  /** A person decides: the question goes to the scheduler's `ask`. */
  | { readonly ask: string }
  /** Run it with these instead. They are validated again, and later hooks see them. */
  | { readonly arguments: unknown }
  /**
   * It may change its file only if the file is still this (null: still missing). Compared under the target's lock, in the
   * write's own step, so nothing that the hook looked at can change in between; a mismatch is final.
   */
  | { readonly ifMatch: Sha256 | null };

export type BeforeToolCall = (context: HookContext) => void | BeforeToolCallVerdict | Promise<void> | Promise<BeforeToolCallVerdict>;

export interface AfterToolCallContext extends HookContext {
  readonly result: ToolResult;
}

/**
 * Fields named replace the result's own, the others stay (so redact `details` too). A throw, no answer in time or
 * anything that is not fields of a result withholds the result from the model.
 */
export type AfterToolCall = (
  context: AfterToolCallContext,
) => void | AfterToolCallReplacement | Promise<void> | Promise<AfterToolCallReplacement>;
export type AfterToolCallReplacement = undefined | Partial<ToolResult>;

export interface AskRequest extends HookContext {
  readonly question: string;
}

/** Only `allow: true` lets the call run. `reason` is for the model. */
export interface AskDecision {
  readonly allow: boolean;
  readonly reason?: string;
}

export type Ask = (request: AskRequest) => Promise<AskDecision>;

/** A verdict as it came, sorted; whatever is not understood is `unknown`, which blocks. */
export type Verdict =
  | { readonly kind: "allow" }
  | { readonly kind: "block"; readonly reason: string | undefined }
  | { readonly kind: "ask"; readonly question: string }
  | { readonly kind: "replace"; readonly arguments: unknown }
  | { readonly kind: "expect"; readonly ifMatch: Sha256 | null }
  | { readonly kind: "unknown" };

export function readVerdict(answer: unknown): Verdict {
  if (answer === undefined) return { kind: "allow" };
  if (typeof answer !== "object" || answer === null) return { kind: "unknown" };
  const said = answer as Readonly<Record<string, unknown>>;
  const words = Object.keys(said)
    .filter((key) => said[key] !== undefined && key !== "reason")
    .join();
  if (words === "block" && said.block === false) return { kind: "allow" };
  if (words === "block" && said.block === true) {
    return { kind: "block", reason: typeof said.reason === "string" && said.reason !== "" ? said.reason : undefined };
  }
  if (words === "ask" && typeof said.ask === "string") return { kind: "ask", question: said.ask };
  if (words === "arguments") return { kind: "replace", arguments: said.arguments };
  if (words === "ifMatch" && (said.ifMatch === null || /^[0-9a-f]{64}$/.test(String(said.ifMatch)))) {
    return { kind: "expect", ifMatch: said.ifMatch as Sha256 | null };
  }
  return { kind: "unknown" };
}

/** Freezes plain objects and arrays through and through, however deep. */
export function deepFreeze<Value>(value: Value): Value {
  const found = new Set<object>();
  const note = (item: unknown): void => {
    if (typeof item !== "object" || item === null) return;
    if (Array.isArray(item) || Object.getPrototypeOf(item) === Object.prototype || Object.getPrototypeOf(item) === null) found.add(item);
  };
  note(value);
  // Visits what is added on the way, too.
  for (const item of found) {
    for (const inner of Object.values(item)) note(inner);
    Object.freeze(item);
  }
  return value;
}
