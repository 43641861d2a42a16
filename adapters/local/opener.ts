import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, realpathSync, type Stats } from "node:fs";
import { errnoOf, refusal } from "./errors.js";
import { refusePseudoFilesystem } from "./located.js";

/** Something on the way, reached in a way that does not depend on names any more, where the system has such a way. */
export interface Reached {
  readonly path: string;
  /** Absent for a directory on the way: nobody asks. */
  readonly stats?: Stats;
  close(): void;
}

/** Undefined: nothing there. A symlink is never followed. */
export type Found = Reached | { readonly link: Stats } | undefined;

/** How a walk takes its steps. `child` is `path` of a directory that was reached, a slash, and a name. */
export interface Opener {
  /** The directory that has the root's name now. Throws `gone` when there is none, or when a symlink leads to it. */
  root(): Reached & { readonly stats: Stats };
  /** The last component, whatever it is, with its stats. Nothing of it is touched: a FIFO does not block. */
  anything(child: string): Found;
  /** A component with more to come. Throws ENOTDIR for anything but a directory or a symlink. */
  directory(child: string): Found;
  /** Throws when `fd`, opened by the path of what was reached, is not it. */
  verify(reached: Reached, fd: number): void;
  close(): void;
}

/* O_PATH is not among Node's constants; it is the same on every architecture that Node supports on Linux. */
const O_PATH = 0o10000000;
export const DIRECTORY = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const ANYTHING = O_PATH | constants.O_NOFOLLOW;

/** Linux: every step is a descriptor, reached as /proc/self/fd/N, so nothing can be exchanged behind our back. */
export function descriptorOpener(root: string): Opener {
  let current = holdRoot(root);

  return {
    root() {
      const now = lstatSync(root, { throwIfNoEntry: false });
      if (now === undefined || !isSameFile(now, current.stats)) {
        // A fresh checkout, say, took its place.
        const next = now?.isDirectory() ? holdRoot(root) : undefined;
        if (next === undefined || readlinkSync(next.path) !== root) {
          next?.retire();
          throw rootGone(root);
        }
        current.retire();
        current = next;
      }
      return current.hold();
    },
    anything: openAnything,
    directory(child) {
      try {
        const fd = openIfThere(child, DIRECTORY);
        return fd === undefined ? undefined : { path: `/proc/self/fd/${fd}`, close: () => closeSync(fd) };
      } catch (error) {
        if (errnoOf(error) !== "ENOTDIR" && errnoOf(error) !== "ELOOP") throw error;
        const found = openAnything(child);
        if (found === undefined || "link" in found || found.stats?.isDirectory()) return found;
        found.close();
        throw error;
      }
    },
    verify() {},
    close: () => current.retire(),
  };
}

/**
 * Elsewhere: every step is a name, looked at when it is taken, and what is opened in the end is compared with what was
 * looked at. Between the two looks a directory on the way can be exchanged.
 */
export function nameOpener(root: string): Opener {
  const look = (path: string): Found => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats?.isSymbolicLink()) return { link: stats };
    return stats && { path, stats, close() {} };
  };
  return {
    root() {
      const found = look(root);
      if (found === undefined || "link" in found || found.stats === undefined) throw rootGone(root);
      return { ...found, stats: found.stats };
    },
    anything: look,
    directory(child) {
      const found = look(child);
      if (found !== undefined && "stats" in found && !found.stats?.isDirectory()) {
        throw Object.assign(new Error(`ENOTDIR: not a directory, ${child}`), { code: "ENOTDIR" });
      }
      return found;
    },
    verify({ path, stats }, fd) {
      if (stats !== undefined && isSameFile(fstatSync(fd), stats) && realpathSync(path) === path) return;
      throw refusal("outside_root", `${JSON.stringify(path)} was exchanged for something else while it was opened. Try it again.`);
    },
    close() {},
  };
}

function openAnything(child: string): Found {
  const fd = openIfThere(child, ANYTHING);
  if (fd === undefined) return undefined;
  const stats = fstatSync(fd);
  if (!stats.isSymbolicLink()) return { path: `/proc/self/fd/${fd}`, stats, close: () => closeSync(fd) };
  closeSync(fd);
  return { link: stats };
}

interface HeldRoot {
  readonly path: string;
  readonly stats: Stats;
  hold(): Reached & { readonly stats: Stats };
  /** No more holders: closed when the last one is done. */
  retire(): void;
}

function holdRoot(root: string): HeldRoot {
  const fd = openSync(root, DIRECTORY);
  const path = `/proc/self/fd/${fd}`;
  let holders = 1;
  const release = (): void => {
    holders -= 1;
    if (holders === 0) closeSync(fd);
  };
  try {
    refusePseudoFilesystem(path, root);
    const stats = fstatSync(fd);
    return {
      path,
      stats,
      retire: release,
      hold() {
        holders += 1;
        return { path, stats, close: release };
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}

function rootGone(root: string): Error {
  return refusal("gone", `The root directory ${root} was moved or removed. Put it back, or open another environment.`);
}

function isSameFile(one: Stats, other: Stats): boolean {
  return one.ino === other.ino && one.dev === other.dev;
}

function openIfThere(path: string, flags: number): number | undefined {
  try {
    return openSync(path, flags);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
