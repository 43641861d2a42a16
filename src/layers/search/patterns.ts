import { GloveboxError } from "../../contract/errors.js";
import type { GrepQuery } from "../../contract/operations.js";

/** The longest pattern whose error is located; longer ones are named without a position. */
const MAX_LOCATED = 1_000;

/**
 * The query's pattern as a JavaScript regular expression, or its text with `literal`. Leading inline flags, `(?i)` and
 * the like, are understood. Rejects `invalid_argument`, naming the character where the pattern stops making sense.
 */
export function compilePattern({ pattern, literal = false, ignoreCase = false }: GrepQuery): RegExp {
  const flags = ignoreCase ? "i" : "";
  if (literal) return new RegExp(pattern.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), `u${flags}`);
  const [inline = "", letters = ""] = /^\(\?([ims]+)\)/.exec(pattern) ?? [];
  const source = pattern.slice(inline.length);
  const all = [...new Set(flags + letters)].join("");
  try {
    return tolerant(source, all);
  } catch (error) {
    const reason = (error instanceof Error ? error.message : String(error)).replace(/^.*: /s, "");
    const position = source.length > MAX_LOCATED ? undefined : inline.length + longestValidPrefix(source, all);
    const where = position === undefined ? "" : ` at character ${position + 1} (${JSON.stringify(pattern.slice(position, position + 10))})`;
    throw new GloveboxError(
      "invalid_argument",
      `${JSON.stringify(pattern)} is not a regular expression: ${reason}${where}. Correct it, put a backslash before characters that stand for themselves, or search with literal: true.`,
      { retrySafe: true, details: position === undefined ? {} : { position }, cause: error },
    );
  }
}

/** Unicode rules where the pattern keeps them (`\p{L}`), the lenient ones where it does not (`\-`). */
function tolerant(source: string, flags: string): RegExp {
  try {
    return new RegExp(source, `u${flags}`);
  } catch {
    return new RegExp(source, flags);
  }
}

/** The first character after it is where the pattern goes wrong: an opening bracket that is never closed, say. */
function longestValidPrefix(source: string, flags: string): number {
  for (let length = source.length - 1; length > 0; length -= 1) {
    try {
      tolerant(source.slice(0, length), flags);
      return length;
    } catch {
      // Still wrong: shorter.
    }
  }
  return 0;
}
