import { GloveboxError } from "../../src/contract/errors.js";

/** `text` as one word of any POSIX shell. Throws `invalid_argument` for NUL, which no word can hold. */
export function quote(text: string): string {
  if (text.includes("\0"))
    throw new GloveboxError("invalid_argument", "A shell word cannot hold NUL. Send such data on stdin.", { retrySafe: true });
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The same on one line, for a shell in which `nl` holds a line feed. */
export function quoteLine(text: string): string {
  return quote(text).replaceAll("\n", `'"$nl"'`);
}
