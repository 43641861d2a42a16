import { fstatSync, type Stats } from "node:fs";
import { refusal } from "./errors.js";
import { pause } from "./pause.js";

/** Readings of a file that keeps changing before it is given up. */
const MAX_TRIES = 8;

/** Two changes this close together can leave one and the same time behind: the kernel's clock ticks that slowly. */
const CLOCK_TICK_MS = 20;

export interface SnapshotOptions<Result> {
  /** Reads the first `size` bytes, or what is asked for of them. */
  read(size: number): Result | Promise<Result>;
  same(one: Result, other: Result): boolean;
  readonly signal?: AbortSignal;
}

/**
 * What `read` returns, once it is sure to be of one moment: the file did not change meanwhile, or two readings in a row
 * agree (so a log that only grows can be read). Rejects `busy` when the file does not come to rest.
 */
export async function snapshot<Result>(
  fd: number,
  path: string,
  options: SnapshotOptions<Result>,
): Promise<{ result: Result; size: number }> {
  let previous: { readonly result: Result; readonly size: number } | undefined;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const before = fstatSync(fd);
    const size = previous === undefined ? before.size : Math.min(previous.size, before.size);
    const result = await options.read(size);
    const current = { result, size };
    const after = fstatSync(fd);
    if (size === after.size && isUnchanged(before, after) && !isFresh(before)) return current;
    if (previous !== undefined && previous.size === size && after.size >= size && options.same(previous.result, result)) return current;
    previous = current;
    if (tries > 0) await pause(tries, options.signal);
  }
  throw refusal("busy", `${JSON.stringify(path)} keeps changing while it is read. Wait until its writer is done, then read it again.`);
}

/** A change of the link count alone is a rename over its name: the bytes that are open stay. */
function isUnchanged(before: Stats, after: Stats): boolean {
  if (before.size !== after.size || before.mtimeMs !== after.mtimeMs) return false;
  return before.ctimeMs === after.ctimeMs || before.nlink !== after.nlink;
}

function isFresh({ mtimeMs }: Stats): boolean {
  return Math.abs(Date.now() - mtimeMs) < CLOCK_TICK_MS;
}
