import { abortError, GloveboxError } from "../contract/errors.js";
import type { Content, ToolResult } from "../contract/tool.js";
import { errorResult } from "../contract/tool-result.js";
import { shown } from "./refusals.js";

const MAX_ERROR_CHARACTERS = 2_000;
const RESULT_FIELDS: readonly string[] = ["content", "details", "isError", "terminate"];

/** What a tool answered, as a frozen result of its own; undefined for what is no result. */
export function readResult(answer: unknown): ToolResult | undefined {
  const fields = asRecord(answer);
  if (fields === undefined || !Array.isArray(fields.content) || !fields.content.every(isContent)) return undefined;
  return Object.freeze({
    content: Object.freeze(fields.content.map((item: Content) => Object.freeze({ ...item }))),
    ...(fields.details === undefined ? {} : { details: fields.details }),
    isError: fields.isError === true,
    ...(fields.terminate === true ? { terminate: true } : {}),
  });
}

/** `result` with the fields that an afterToolCall hook named. Throws for anything else than fields of a result. */
export function replaceFields(result: ToolResult, replacement: unknown): ToolResult {
  if (replacement === undefined) return result;
  const fields = asRecord(replacement);
  const stray = fields === undefined ? "no object" : Object.keys(fields).find((key) => !RESULT_FIELDS.includes(key));
  if (fields === undefined || stray !== undefined)
    throw new TypeError(`it returned ${stray}; only ${RESULT_FIELDS.join(", ")} can be replaced`);
  const merged = { ...result, ...fields };
  const replaced = typeof merged.isError === "boolean" ? readResult(merged) : undefined;
  if (replaced === undefined) throw new TypeError("it returned a content or isError that no result can have");
  return replaced;
}

/** The result of a tool that rejected: what it had reported stays in front when it was told to stop. */
export function rejectedResult(name: string, thrown: unknown, signal: AbortSignal, lastUpdate: ToolResult | undefined): ToolResult {
  const error = thrown instanceof GloveboxError ? thrown : foreignError(name, thrown, signal);
  const stopped = error.code === "aborted" || error.code === "timeout" || error.code === "unknown_outcome";
  return errorResult(error, stopped && lastUpdate !== undefined ? { content: lastUpdate.content } : {});
}

function foreignError(name: string, thrown: unknown, signal: AbortSignal): GloveboxError {
  if (signal.aborted && (thrown === signal.reason || (thrown instanceof Error && thrown.name === "AbortError"))) return abortError(signal);
  return new GloveboxError(
    "unexpected",
    `${name} failed in a way it should not: ${saidBy(thrown)}. It may have done part of its work: check the state before calling it again.`,
    { cause: thrown },
  );
}

/** What was thrown, in its own words, bounded. Never throws itself. */
export function saidBy(thrown: unknown): string {
  try {
    const said = thrown instanceof Error ? thrown.message || thrown.name : String(thrown);
    return shown(said, MAX_ERROR_CHARACTERS);
  } catch {
    return "something that cannot be shown";
  }
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
}

function isContent(item: unknown): boolean {
  const fields = asRecord(item);
  if (fields?.type === "text") return typeof fields.text === "string";
  return fields?.type === "image" && typeof fields.data === "string" && typeof fields.mimeType === "string";
}
