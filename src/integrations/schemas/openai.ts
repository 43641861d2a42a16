import type { ImageContent, Scheduler, Tool, ToolResult } from "../../index.js";
import { plainSchema } from "../plain-schema.js";
import { type RunToolCallsOptions, runWrittenCalls } from "./arguments.js";

export type { RunToolCallsOptions } from "./arguments.js";

/*
 * The shapes are those of the openai package (7), written out. test/integrations/schemas holds them against its types.
 * Not strict: OpenAI's strict mode takes no optional fields. The scheduler validates.
 */

/** A tool for Chat Completions. */
export interface OpenAiTool {
  type: "function";
  function: { name: string; description: string; parameters: Record<string, unknown>; strict: false };
}

/** `message.tool_calls` of Chat Completions. Calls of another type than "function" are somebody else's. */
export type OpenAiToolCall =
  | { readonly type: "function"; readonly id: string; readonly function: { readonly name: string; readonly arguments: string } }
  | { readonly type: "custom"; readonly id: string };

export interface OpenAiToolMessage {
  role: "tool";
  tool_call_id: string;
  content: string;
}

/** Tool messages hold text alone, so images follow as the user's. */
export interface OpenAiImageMessage {
  role: "user";
  content: ({ type: "text"; text: string } | { type: "image_url"; image_url: { url: string } })[];
}

export function toOpenAiTools(tools: readonly Tool[]): OpenAiTool[] {
  return tools.map(({ name, description, parameters }) => ({
    type: "function",
    function: { name, description, parameters: plainSchema(parameters), strict: false },
  }));
}

/**
 * Runs the function calls of one assistant message as one batch and answers with the messages to append after it: one for
 * each, in order, errors as text; then, if any result has images, one of the user's with all of them.
 */
export async function runOpenAiToolCalls(
  scheduler: Pick<Scheduler, "runBatch">,
  toolCalls: readonly OpenAiToolCall[] | null | undefined,
  options?: RunToolCallsOptions,
): Promise<(OpenAiToolMessage | OpenAiImageMessage)[]> {
  const calls = (toolCalls ?? []).flatMap((call) => (call.type === "function" ? [{ id: call.id, ...call.function }] : []));
  const results = await runWrittenCalls(scheduler, calls, options);
  const messages = results.map(
    (result, index): OpenAiToolMessage => ({
      role: "tool",
      tool_call_id: calls[index]?.id ?? "",
      content: textOf(result),
    }),
  );
  const images = results.flatMap((result, index): OpenAiImageMessage["content"] => {
    const found = imagesOf(result);
    if (found.length === 0) return [];
    return [
      { type: "text", text: `From the tool call ${calls[index]?.id}:` },
      ...found.map((image) => ({ type: "image_url" as const, image_url: { url: dataUrl(image) } })),
    ];
  });
  return images.length === 0 ? messages : [...messages, { role: "user", content: images }];
}

/** A tool for the Responses API. */
export interface OpenAiResponsesTool {
  type: "function";
  name: string;
  description: string;
  parameters: Record<string, unknown>;
  strict: false;
}

export interface OpenAiFunctionCall {
  readonly type: "function_call";
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface OpenAiFunctionCallOutput {
  type: "function_call_output";
  call_id: string;
  output: string | ({ type: "input_text"; text: string } | { type: "input_image"; image_url: string; detail: "auto" })[];
}

export function toOpenAiResponsesTools(tools: readonly Tool[]): OpenAiResponsesTool[] {
  return toOpenAiTools(tools).map((tool) => ({ type: "function", ...tool.function }));
}

/**
 * Runs the function calls among the items of a response's `output` as one batch and answers with the input items to send
 * next, one for each, in order: text, or text and images. Items of other types are passed over.
 */
export async function runOpenAiFunctionCalls(
  scheduler: Pick<Scheduler, "runBatch">,
  items: readonly (OpenAiFunctionCall | { readonly type: string })[],
  options?: RunToolCallsOptions,
): Promise<OpenAiFunctionCallOutput[]> {
  const calls = items.filter(isFunctionCall).map(({ call_id: id, name, arguments: text }) => ({ id, name, arguments: text }));
  const results = await runWrittenCalls(scheduler, calls, options);
  return results.map((result, index) => ({
    type: "function_call_output",
    call_id: calls[index]?.id ?? "",
    output: imagesOf(result).length === 0 ? textOf(result) : result.content.map(toInputItem),
  }));
}

function isFunctionCall(item: OpenAiFunctionCall | { readonly type: string }): item is OpenAiFunctionCall {
  return item.type === "function_call";
}

function toInputItem(part: ToolResult["content"][number]) {
  return part.type === "text"
    ? ({ type: "input_text", text: part.text } as const)
    : ({ type: "input_image", image_url: dataUrl(part), detail: "auto" } as const);
}

function textOf({ content }: ToolResult): string {
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

function imagesOf({ content }: ToolResult): readonly ImageContent[] {
  return content.filter((part) => part.type === "image");
}

function dataUrl({ mimeType, data }: ImageContent): string {
  return `data:${mimeType};base64,${data}`;
}
