import { closeSync, constants, fsync as fsyncCallback, mkdirSync, openSync, rmdirSync } from "node:fs";
import { promisify } from "node:util";
import { errnoOf } from "./errors.js";
import { DIRECTORY } from "./opener.js";

const fsync = promisify(fsyncCallback);

/** The directory that a new file goes into, made where it was missing. */
export interface MadeDirectories {
  /** Reaches it. */
  readonly path: string;
  /** Makes sure that their names outlive a power cut. */
  sync(): Promise<void>;
  /** Takes those back that were made here and are empty still. */
  undo(): void;
  close(): void;
}

/** Makes `names`, each in the one before, below `parent`. A symlink that turns up in their place is not followed. */
export function makeDirectories(parent: string, names: readonly string[]): MadeDirectories {
  const opened: number[] = [];
  const made: string[] = [];
  const entered: string[] = [];
  let path = parent;
  const undo = (): void => {
    for (const directory of made.reverse()) removeIfEmpty(directory);
  };
  const close = (): void => {
    for (const fd of opened) closeSync(fd);
  };
  try {
    for (const name of names) {
      const child = `${path}/${name}`;
      if (make(child)) {
        made.push(child);
        entered.push(path);
      }
      if (path.startsWith("/proc/self/fd/")) {
        const fd = openSync(child, DIRECTORY);
        opened.push(fd);
        path = `/proc/self/fd/${fd}`;
      } else {
        path = child;
      }
    }
  } catch (error) {
    undo();
    close();
    throw error;
  }
  return {
    path,
    undo,
    close,
    async sync() {
      for (const directory of entered) await syncDirectory(directory);
    },
  };
}

/** Syncs a directory's entries. Filesystems that cannot, and directories that may not be read, are let off. */
export async function syncDirectory(path: string): Promise<void> {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  } catch (error) {
    if (errnoOf(error) === "EACCES") return;
    throw error;
  }
  try {
    await fsync(fd);
  } catch (error) {
    if (!["EINVAL", "ENOTSUP", "ENOSYS"].includes(errnoOf(error) ?? "")) throw error;
  } finally {
    closeSync(fd);
  }
}

function make(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return false;
    throw error;
  }
}

function removeIfEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // Somebody put something there in the meantime.
  }
}
