import type { CallResult, Content, Scheduler, Tool } from "../../index.js";
import { plainSchema } from "../plain-schema.js";
import type { RunToolCallsOptions } from "./arguments.js";

export type { RunToolCallsOptions } from "./arguments.js";

/*
 * The shapes are those of the @anthropic-ai/sdk package (1), written out. test/integrations/schemas holds them against its
 * types.
 */

export interface AnthropicTool {
  name: string;
  description: string;
  input_schema: { type: "object"; [keyword: string]: unknown };
}

export interface AnthropicToolUse {
  readonly type: "tool_use";
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

type ImageType = "image/jpeg" | "image/png" | "image/gif" | "image/webp";

export type AnthropicResultBlock =
  | { type: "text"; text: string }
  | { type: "image"; source: { type: "base64"; media_type: ImageType; data: string } };

export interface AnthropicToolResult {
  type: "tool_result";
  tool_use_id: string;
  content?: AnthropicResultBlock[];
  is_error: boolean;
}

export function toAnthropicTools(tools: readonly Tool[]): AnthropicTool[] {
  return tools.map(({ name, description, parameters }) => ({
    name,
    description,
    input_schema: { ...plainSchema(parameters), type: "object" },
  }));
}

/**
 * Runs the tool uses among the content blocks of one assistant message as one batch and answers with the blocks of the
 * user message to send next: one for each, in order. Blocks of other types are passed over.
 */
export async function runAnthropicToolUses(
  scheduler: Pick<Scheduler, "runBatch">,
  content: readonly (AnthropicToolUse | { readonly type: string })[],
  options: RunToolCallsOptions = {},
): Promise<AnthropicToolResult[]> {
  const calls = content.filter(isToolUse).map(({ id, name, input }) => ({ id, name, arguments: input }));
  const { results } = await scheduler.runBatch(calls, options);
  return results.map(toToolResult);
}

function isToolUse(block: AnthropicToolUse | { readonly type: string }): block is AnthropicToolUse {
  return block.type === "tool_use";
}

function toToolResult({ id, content, isError }: CallResult): AnthropicToolResult {
  const blocks = content.flatMap((part) => toBlock(part, isError));
  // The API takes neither an empty text nor an empty list.
  return { type: "tool_result", tool_use_id: id, ...(blocks.length > 0 && { content: blocks }), is_error: isError };
}

/** The API takes nothing but text with an error, and four types of image. */
function toBlock(part: Content, isError: boolean): AnthropicResultBlock[] {
  if (part.type === "text") return part.text.trim() === "" ? [] : [{ type: "text", text: part.text }];
  if (isError || !isImageType(part.mimeType)) return [{ type: "text", text: `[image: ${part.mimeType}]` }];
  return [{ type: "image", source: { type: "base64", media_type: part.mimeType, data: part.data } }];
}

function isImageType(mimeType: string): mimeType is ImageType {
  return ["image/jpeg", "image/png", "image/gif", "image/webp"].includes(mimeType);
}
