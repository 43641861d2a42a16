import type { CallToolResult } from "@modelcontextprotocol/server";
import type { ToolResult } from "../../index.js";

/** Halves of surrogate pairs: no UTF-8 text can hold them, and strict JSON parsers refuse them. */
const HALF_CHARACTER = /\p{Surrogate}/gu;

/**
 * A tool's result in MCP's shape. With `requiredFields`, its details go along as structured content, its text among them,
 * unless an error left out what the tool's output schema promises.
 */
export function toCallToolResult(result: ToolResult, requiredFields: readonly string[] | undefined): CallToolResult {
  const content: CallToolResult["content"] = result.content.map((item) =>
    item.type === "text" ? { type: "text", text: wellFormed(item.text) } : { type: "image", data: item.data, mimeType: item.mimeType },
  );
  const details = (typeof result.details === "object" && result.details !== null ? result.details : {}) as Record<string, unknown>;
  const code = errorCode(details);
  const answer: CallToolResult = {
    content,
    isError: result.isError,
    ...(code === undefined ? {} : { _meta: { "glovebox.error": code } }),
  };
  if (requiredFields === undefined) return answer;
  const text = content.flatMap((item) => (item.type === "text" ? [item.text] : [])).join("\n");
  const structured: Record<string, unknown> = { text, ...details };
  const complete = requiredFields.every((field) => structured[field] !== undefined);
  return complete || !result.isError ? { ...answer, structuredContent: structured } : answer;
}

function errorCode({ error }: Record<string, unknown>): string | undefined {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === "string" ? code : undefined;
}

function wellFormed(text: string): string {
  return text.replace(HALF_CHARACTER, "\ufffd");
}
