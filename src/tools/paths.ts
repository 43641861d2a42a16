import { dirname } from "node:path/posix";
import { GloveboxError } from "../contract/errors.js";
import type { FileVerbs } from "../contract/operations.js";
import type { Place } from "../contract/target.js";
import { quoteName } from "../text/escape.js";
import { missingPathError } from "./missing-path.js";
import { pathRepairs } from "./path-repairs.js";

/** What looking for a path takes. */
export interface PathContext {
  readonly operations: Partial<Pick<FileVerbs, "stat" | "readdir">>;
  readonly place: Partial<Place>;
  readonly signal: AbortSignal;
}

/** A path as it was used, and what came of it. */
export interface Used<Value> {
  readonly path: string;
  readonly value: Value;
  /** True when the name given does not exist and a repaired one was used. */
  readonly repaired: boolean;
}

/**
 * Does `attempt` on the path as it is given. Only if that does not exist, its repairs are tried, all in one trip; the
 * likeliest that exists is the answer, be it a result or an error. When none exists: an error that names what is there.
 */
export async function useExisting<Value>(
  path: string,
  context: PathContext,
  attempt: (path: string) => Promise<Value>,
): Promise<Used<Value>> {
  try {
    return { path, value: await attempt(path), repaired: false };
  } catch (error) {
    if (!isMissing(error)) throw error;
    const repairs = pathRepairs(path, context.place.home);
    const outcomes = await Promise.allSettled(repairs.map(attempt));
    for (const [index, outcome] of outcomes.entries()) {
      const repaired = repairs[index] ?? path;
      if (outcome.status === "fulfilled") return { path: repaired, value: outcome.value, repaired: true };
      if (!isMissing(outcome.reason)) throw outcome.reason;
    }
    throw await missingPathError(error, path, repairs, context);
  }
}

/**
 * The path that a write of `path` is to go to: as it is given, unless neither it nor its directory exists and the directory of
 * a repaired one does. One trip when there is something to repair, else none.
 */
export async function pathToWrite(path: string, { operations, place, signal }: PathContext): Promise<string> {
  const repairs = pathRepairs(path, place.home);
  const stat = operations.stat;
  if (repairs.length === 0 || stat === undefined) return path;
  const exists = async (name: string): Promise<boolean> => {
    try {
      await stat(name, { signal });
      return true;
    } catch (error) {
      if (isMissing(error)) return false;
      // Something is there, even if it cannot be used: the write will say why.
      if (error instanceof GloveboxError && !signal.aborted) return true;
      throw error;
    }
  };
  const [literal, literalParent, ...repairedParents] = await Promise.all(
    [path, dirname(path), ...repairs.map((repaired) => dirname(repaired))].map(exists),
  );
  if (literal || literalParent) return path;
  return repairs[repairedParents.indexOf(true)] ?? path;
}

/** What a result says when a repaired name was used; "" when not. */
export function repairNote(given: string, used: string): string {
  return given === used ? "" : `${quoteName(given)} does not exist; ${quoteName(used)} was used.`;
}

function isMissing(error: unknown): error is GloveboxError {
  return error instanceof GloveboxError && (error.code === "not_found" || error.code === "not_directory");
}
