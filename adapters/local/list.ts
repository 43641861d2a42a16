import { type Dirent, promises, readdirSync, readlinkSync, type Stats } from "node:fs";
import { GloveboxError } from "../../src/contract/errors.js";
import type { Entry, FileKind, Stat } from "../../src/contract/operations.js";
import { errnoOf, refusal } from "./errors.js";
import { kindOf } from "./kinds.js";
import type { Located, Walker } from "./located.js";
import { checkAbort } from "./pause.js";
import { sweepIfStale } from "./temporary-files.js";
import { takeTurns } from "./turns.js";

/** Directories that take more room than this on disk are listed by the thread pool. */
const SMALL_DIRECTORY_BYTES = 64 * 1024;

/** Describes what was located. */
export function statOf({ object, canonicalPath, mustBeDirectory }: Located, path: string): Stat {
  if (object === undefined) throw refusal("not_found", `${JSON.stringify(path)} does not exist. List its directory to see what is there.`);
  const { size, mode, mtimeMs } = object.stats;
  const kind = kindOf(object.stats);
  if (mustBeDirectory && kind !== "directory") throw notDirectory(path, kind);
  return { kind, size, mode: mode & 0o7777, mtimeMs, canonicalPath };
}

/** Lists what was located and closes it. Old temporary files of dead processes are removed on the way. */
export async function listLocated(walker: Walker, located: Located, path: string, signal?: AbortSignal): Promise<readonly Entry[]> {
  try {
    const { canonicalPath, object } = located;
    const stats = directoryStats(located, path);
    const reached = object?.path ?? "";
    const names = stats.size > SMALL_DIRECTORY_BYTES ? await promises.readdir(reached, TYPES) : readdirSync(reached, TYPES);
    const entries: Entry[] = [];
    for (const entry of names) {
      if (entry.name.startsWith(".glovebox-tmp-") && sweepIfStale(reached, entry.name)) continue;
      if (entry.isSymbolicLink()) {
        await takeTurns();
        checkAbort(signal);
        entries.push(linkEntry(walker, reached, canonicalPath, entry));
      } else {
        entries.push({ name: entry.name, kind: kindOf(entry) });
      }
    }
    return entries;
  } finally {
    located.close();
  }
}

const TYPES = { withFileTypes: true } as const;

function directoryStats({ object }: Located, path: string): Stats {
  if (object === undefined) throw refusal("not_found", `${JSON.stringify(path)} does not exist. List its parent to see what is there.`);
  if (!object.stats.isDirectory()) throw notDirectory(path, kindOf(object.stats));
  return object.stats;
}

function linkEntry(walker: Walker, directory: string, canonicalPath: string, { name }: Dirent): Entry {
  const linkTarget = targetOf(`${directory}/${name}`);
  const linkKind = kindBehind(walker, `${canonicalPath === "/" ? "" : canonicalPath}/${name}`);
  return { name, kind: "symlink", ...(linkTarget === undefined ? {} : { linkTarget }), ...(linkKind && { linkKind }) };
}

/** Undefined when it was exchanged for something else in between. */
function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** Undefined when the link is broken or leads where nothing may be named. */
function kindBehind(walker: Walker, path: string): FileKind | undefined {
  try {
    const located = walker.locate(path);
    located.close();
    return located.object && kindOf(located.object.stats);
  } catch (error) {
    if (error instanceof GloveboxError || errnoOf(error) !== undefined) return undefined;
    throw error;
  }
}

function notDirectory(path: string, kind: FileKind): Error {
  return refusal(
    "not_directory",
    `${JSON.stringify(path)} is a ${kind.replaceAll("_", " ")}, not a directory. List its parent, or read it.`,
  );
}
