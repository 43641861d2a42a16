import type { Content, JsonSchema } from "../../index.js";
import type { PiBashOperations } from "./bash-operations.js";

/*
 * As much of Pi's extension API (@earendil-works/pi-coding-agent 1.6) as the extension uses, written out for the same
 * reason as the operations.
 */

export interface PiToolResult {
  content: Content[];
  details: unknown;
  isError?: boolean;
  terminate?: boolean;
}

export interface PiTool {
  name: string;
  label: string;
  description: string;
  promptSnippet?: string;
  promptGuidelines?: string[];
  parameters: JsonSchema;
  executionMode?: "parallel" | "sequential";
  prepareArguments?(raw: unknown): unknown;
  execute(
    toolCallId: string,
    parameters: unknown,
    signal: AbortSignal | undefined,
    onUpdate: ((partial: PiToolResult) => void) | undefined,
  ): Promise<PiToolResult>;
}

export interface PiContext {
  readonly ui: { setStatus(key: string, text: string | undefined): void };
}

export interface PiExtensionApi {
  on(event: "session_start", handler: (event: object, context: PiContext) => void): unknown;
  on(event: "session_shutdown", handler: (event: { readonly reason: string }) => Promise<void>): unknown;
  on(event: "before_agent_start", handler: (event: { readonly systemPromptOptions: PiPromptOptions }) => Promise<void>): unknown;
  on(event: "tool_call", handler: (event: { readonly toolName: string }) => { block: boolean; reason: string } | undefined): unknown;
  on(event: "user_bash", handler: () => Promise<{ operations: PiBashOperations }>): unknown;
  registerTool(tool: PiTool): void;
  registerToolRenderer(resolver: (toolName: string, next: () => object | undefined) => object | undefined): void;
  getAllTools(): readonly { readonly name: string; readonly description: string }[];
}

export interface PiPromptOptions {
  cwd: string;
  sections?: Record<string, string>;
}

export type PiExtension = (pi: PiExtensionApi) => Promise<void>;
