import { type ErrorCode, GloveboxError } from "../../contract/errors.js";
import type { FileKind, FileVerbs } from "../../contract/operations.js";

/** What a search needs of a target, and where the agent works: .gitignore files from there down to the root have a say. */
export interface SearchPlace {
  readonly files: Pick<FileVerbs, "readFile" | "readdir">;
  readonly cwd: string;
}

/** One entry on the way. */
export interface Walked {
  /** Relative to the search root. */
  readonly path: string;
  readonly kind: FileKind;
}

/** Codes that concern one entry alone: it is passed over and counted. Every other one ends the search. */
const PASSED_OVER: readonly ErrorCode[] = [
  "not_found",
  "permission_denied",
  "not_directory",
  "is_directory",
  "not_regular",
  "loop",
  "outside_root",
  "too_large",
  // A path that has grown too long for the target.
  "invalid_argument",
];

/** What a rejected reading comes to: nothing, when the entry alone is to blame. Throws the rest on. */
export function passOver(error: unknown): undefined {
  if (!(error instanceof GloveboxError && PASSED_OVER.includes(error.code))) throw error;
}

export function join(directory: string, name: string): string {
  return directory.endsWith("/") ? directory + name : `${directory}/${name}`;
}

/** Order by code point. Plain comparison goes by UTF-16 units, which puts what lies beyond U+FFFF before U+E000. */
export function byCodePoint(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index += 1) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left !== right) return lift(left) - lift(right);
  }
  return a.length - b.length;
}

/** Surrogates go above everything else. */
function lift(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
