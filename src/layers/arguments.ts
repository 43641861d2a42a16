import { GloveboxError } from "../contract/errors.js";
import type { ExecOptions, FindQuery, GrepQuery, ReadFileOptions, WriteFileOptions } from "../contract/operations.js";

/*
 * What no verb accepts, refused before anything travels. Each function throws `invalid_argument`.
 */

/** `path` made absolute by joining it to `cwd`. `..` stays: what it means after a symlink is the kernel's to say. */
export function absolutePath(cwd: string, path: string, what = "path"): string {
  checkText(path, what);
  if (path === "") refuse(`An empty ${what} names nothing. Say "." for the working directory.`);
  return path.startsWith("/") ? path : `${cwd === "/" ? "" : cwd}/${path}`;
}

export function checkRead({ bytes, lines }: ReadFileOptions): void {
  if (bytes !== undefined && lines !== undefined) refuse("Ask for `bytes` or for `lines`, not for both.");
  if (bytes !== undefined) {
    checkCount(bytes.offset, 0, "bytes.offset");
    checkCount(bytes.length, 0, "bytes.length");
  }
  if (lines !== undefined) {
    checkCount(lines.start, 1, "lines.start");
    checkCount(lines.count, 1, "lines.count");
    if (lines.maxBytes !== undefined) checkCount(lines.maxBytes, 1, "lines.maxBytes");
  }
}

export function checkWrite(data: unknown, { ifMatch }: WriteFileOptions): void {
  if (!(data instanceof Uint8Array)) refuse("The data of a write must be a Uint8Array; encode text with TextEncoder first.");
  if (ifMatch != null && !/^[0-9a-f]{64}$/.test(ifMatch)) {
    refuse("`ifMatch` must be a SHA-256 in 64 lower-case hexadecimal digits, or null for a file that must not exist.");
  }
}

export function checkExec(command: string, { env = {} }: ExecOptions): void {
  checkText(command, "command");
  for (const [name, value] of Object.entries(env)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      refuse(`${JSON.stringify(name)} cannot be the name of an environment variable: use letters, digits and "_".`);
    }
    checkText(value, `value of ${name}`);
  }
}

export function checkSearch(query: GrepQuery | FindQuery): void {
  checkText(query.pattern, "pattern");
  checkCount(query.limit, 1, "limit");
  if (!("context" in query || "glob" in query || "maxLineLength" in query)) return;
  if (query.glob !== undefined) checkText(query.glob, "glob");
  if (query.context !== undefined) checkCount(query.context, 0, "context");
  if (query.maxLineLength !== undefined) checkCount(query.maxLineLength, 1, "maxLineLength");
}

function checkText(text: unknown, what: string): void {
  if (typeof text !== "string") refuse(`The ${what} must be a string, not ${text === null ? "null" : typeof text}.`);
  if (text.includes("\0")) refuse(`The ${what} holds a NUL character, which no target accepts. Leave it out.`);
  if (/\p{Surrogate}/u.test(text)) refuse(`The ${what} holds half of a surrogate pair, which is not a character. Leave it out.`);
}

function checkCount(value: number, least: number, what: string): void {
  if (!Number.isSafeInteger(value) || value < least) refuse(`${what} must be a whole number, ${least} or more; it is ${String(value)}.`);
}

function refuse(message: string): never {
  throw new GloveboxError("invalid_argument", message, { retrySafe: true });
}
