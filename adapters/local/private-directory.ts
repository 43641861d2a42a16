import { lstatSync, mkdirSync, type Stats } from "node:fs";
import { errnoOf, refusal, toGloveboxError } from "./errors.js";

/**
 * Where this account's Glovebox processes keep what they share on this machine: locks, records of runs, spools. Not under
 * TMPDIR, since every process must find the same one.
 */
export function privateDirectoryPath(): string {
  const temporary = process.platform === "darwin" ? "/private/tmp" : "/tmp";
  return `${temporary}/.glovebox-${process.getuid?.() ?? 0}`;
}

/** Makes it where it is missing. Rejects `permission_denied` when it is a symlink, somebody else's, or open to others. */
export function openPrivateDirectory(path: string = privateDirectoryPath()): string {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw toGloveboxError(error, `Making ${path}, where locks are kept,`);
  }
  if (!isPrivate(lstatSync(path))) {
    throw refusal(
      "permission_denied",
      `${path}, where locks are kept, is not a directory of this account's own with mode 0700. Somebody may be tampering with it: look at it, and remove it if it should not be there.`,
    );
  }
  return path;
}

/** Its path when it is there and can be trusted. */
export function existingPrivateDirectory(): string | undefined {
  const path = privateDirectoryPath();
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats !== undefined && isPrivate(stats) ? path : undefined;
}

function isPrivate(stats: Stats): boolean {
  return stats.isDirectory() && stats.uid === process.getuid?.() && (stats.mode & 0o077) === 0;
}
