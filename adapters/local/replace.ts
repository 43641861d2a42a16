import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsync as fsyncCallback,
  ftruncateSync,
  linkSync,
  openSync,
  renameSync,
  type Stats,
  unlinkSync,
  write as writeCallback,
  writeSync,
} from "node:fs";
import { promisify } from "node:util";
import { GloveboxError } from "../../src/contract/errors.js";
import { type MadeDirectories, syncDirectory } from "./directories.js";
import { errnoOf, refusal } from "./errors.js";
import type { Expectation } from "./expectation.js";
import type { LocatedObject } from "./located.js";
import { checkAbort } from "./pause.js";
import { temporaryName } from "./temporary-files.js";
import type { WriteRequest } from "./write.js";

const fsync = promisify(fsyncCallback);
const writeAsync = promisify(writeCallback);

/** Up to this size a write on the spot is quicker than a trip through the thread pool. */
const SMALL_BYTES = 256 * 1024;
const CHUNK_BYTES = 8 * 1024 * 1024;

export interface Replacement extends WriteRequest {
  readonly existing: LocatedObject | undefined;
  readonly directories: MadeDirectories;
  readonly name: string;
  readonly expected: Expectation;
}

/**
 * Temporary file beside it, owner, attributes, bytes, mode, fsync, rename, fsync of the directory, in this order. False,
 * and nothing written, when the file is no longer the one that was compared. A failure before the rename leaves nothing
 * either; one after it is `unknown_outcome`.
 */
export async function replaceFile(replacement: Replacement): Promise<boolean> {
  const { directories, name, existing, data, options, policy, expected, path, plainFiles } = replacement;
  const temporary = `${directories.path}/${temporaryName()}`;
  const target = `${directories.path}/${name}`;
  const fd = openSync(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
  let named = true;
  try {
    const isPlain = existing === undefined || (await keepMetadata(replacement, fd, existing.stats));
    await writeAll(fd, data);
    fchmodSync(fd, existing === undefined ? 0o666 & ~process.umask() : existing.stats.mode & 0o1777);
    const { size } = fstatSync(fd);
    if (size !== data.byteLength)
      throw refusal("no_space", `Writing ${JSON.stringify(path)} failed: only ${size} of ${data.byteLength} bytes arrived on the disk.`);
    if (policy.durable) await fsync(fd);
    checkAbort(options.signal);
    if (!expected.holds(target)) return false;
    if (expected.mustBeNew) {
      if (!moveToNew(temporary, target)) return false;
    } else {
      renameSync(temporary, target);
    }
    named = false;
    if (isPlain) plainFiles.add(fstatSync(fd));
  } finally {
    closeSync(fd);
    if (named) removeQuietly(temporary);
  }
  if (!policy.durable) return true;
  try {
    await syncDirectory(directories.path);
    await directories.sync();
    return true;
  } catch (cause) {
    throw new GloveboxError(
      "unknown_outcome",
      `${JSON.stringify(path)} has its new content, but the disk did not confirm that it would outlive a power cut. Check the disk, then read the file before you write it again.`,
      { cause },
    );
  }
}

/** Not atomic, but every name of the file sees the new bytes. */
export async function overwriteInPlace(existing: LocatedObject, data: Uint8Array, durable: boolean): Promise<void> {
  const fd = openSync(existing.path, constants.O_WRONLY | constants.O_NONBLOCK);
  try {
    existing.verify(fd);
    await writeAll(fd, data);
    ftruncateSync(fd, data.byteLength);
    if ((existing.stats.mode & 0o6000) !== 0) fchmodSync(fd, existing.stats.mode & 0o1777);
    if (durable) await fsync(fd);
  } catch (cause) {
    throw new GloveboxError("unknown_outcome", `Writing in place failed half-way: ${String(cause)}. Read the file before you go on.`, {
      cause,
    });
  } finally {
    closeSync(fd);
  }
}

/** Owner, group and attributes of the old file; true when it had no attributes. They come before the bytes: content that others may not see must never be theirs. */
async function keepMetadata(replacement: Replacement, fd: number, old: Stats): Promise<boolean> {
  const { path, attributes, plainFiles, onAttributesLost, existing } = replacement;
  const fresh = fstatSync(fd);
  if (fresh.uid !== old.uid || fresh.gid !== old.gid) {
    try {
      fchownSync(fd, old.uid, old.gid);
    } catch (cause) {
      if (errnoOf(cause) !== "EPERM") throw cause;
      throw refusal(
        "permission_denied",
        `${JSON.stringify(path)} belongs to user ${old.uid}, group ${old.gid}, and this account cannot write a file that stays theirs. Use a command that writes in place, or change its owner.`,
        { cause },
      );
    }
  }
  if (plainFiles.has(old)) return true;
  const copied = await attributes.copy(reachedFromOutside(existing?.path ?? ""), reachedFromOutside(`/proc/self/fd/${fd}`));
  if (copied === "lost") onAttributesLost();
  return copied === "none";
}

function reachedFromOutside(path: string): string {
  return path.replace("/proc/self/", `/proc/${process.pid}/`);
}

async function writeAll(fd: number, data: Uint8Array): Promise<void> {
  let written = 0;
  while (written < data.byteLength) {
    const length = Math.min(CHUNK_BYTES, data.byteLength - written);
    written +=
      data.byteLength <= SMALL_BYTES
        ? writeSync(fd, data, written, length, written)
        : (await writeAsync(fd, data, written, length, written)).bytesWritten;
  }
}

/** A rename would replace what a stranger made in the meantime; a second name cannot. False when there is something. */
function moveToNew(temporary: string, target: string): boolean {
  try {
    linkSync(temporary, target);
    removeQuietly(temporary);
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return false;
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "EMLINK", "ENOSYS"].includes(errnoOf(error) ?? "")) throw error;
    renameSync(temporary, target);
  }
  return true;
}

function removeQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // A sweep was quicker.
  }
}
