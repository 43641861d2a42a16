import { GloveboxError } from "./errors.js";
import type { Content, ToolResult } from "./tool.js";

/** A GloveboxError as data, JSON-safe, without the fields that it does not have. Found at `details.error` of an error result. */
export interface ErrorData {
  readonly code: string;
  readonly message: string;
  readonly retrySafe: boolean;
  readonly target?: string;
  readonly verb?: string;
  readonly path?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** What was there before the error came: output of a command, facts. */
export interface PartialResult<Facts extends object = object> {
  /** Shown before the error's own text. */
  readonly content?: readonly Content[];
  /** Kept beside `error`. */
  readonly details?: Facts;
}

/** A result of one piece of text. */
export function textResult<Details>(text: string, details?: Details, isError = false): ToolResult<Details> {
  return { content: [{ type: "text", text }], ...(details === undefined ? {} : { details }), isError };
}

/**
 * The result that an error comes to: its message as text, `details.error` as data, whatever was there already kept in
 * front. A foreign error becomes `unexpected`.
 */
export function errorResult<Facts extends object = object>(
  error: unknown,
  partial: PartialResult<Facts> = {},
): ToolResult<Facts & { readonly error: ErrorData }> {
  const known = toKnownError(error);
  return {
    content: [...(partial.content ?? []), { type: "text", text: known.message }],
    details: { ...(partial.details as Facts), error: errorData(known) },
    isError: true,
  };
}

/** The data of an error result. */
export function errorData(error: GloveboxError): ErrorData {
  const { code, message, retrySafe, target, verb, path, details } = error;
  return {
    code,
    message,
    retrySafe,
    ...(target === undefined ? {} : { target }),
    ...(verb === undefined ? {} : { verb }),
    ...(path === undefined ? {} : { path }),
    ...(Object.keys(details).length === 0 ? {} : { details }),
  };
}

/** The error itself, or, for a foreign one, an `unexpected` that says what it said. */
export function toKnownError(error: unknown): GloveboxError {
  if (error instanceof GloveboxError) return error;
  const said = error instanceof Error ? error.message : String(error);
  return new GloveboxError(
    "unexpected",
    `Something failed that should not have: ${said || "no reason given"}. Try once more, and report it if it comes again.`,
    { cause: error },
  );
}
