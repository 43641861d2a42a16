import { closeSync, constants, fstatSync, openSync, read as readCallback, readSync } from "node:fs";
import { promisify } from "node:util";
import type { FileRead, ReadFileOptions } from "../../src/contract/operations.js";
import { refusal } from "./errors.js";
import { kindOf } from "./kinds.js";
import { createLineSlicer, type LineSlice } from "./lines.js";
import type { Located, LocatedObject } from "./located.js";
import { checkAbort } from "./pause.js";
import { snapshot } from "./snapshot.js";

const readAsync = promisify(readCallback);

/** Up to this size a read on the spot is quicker than a trip through the thread pool. */
const SMALL_BYTES = 256 * 1024;
const CHUNK_BYTES = 1024 * 1024;

export interface ReadPolicy {
  /** Larger files are read in slices only. */
  readonly maxReadBytes: number;
}

/** Reads what was located and closes it. */
export async function readLocated(located: Located, path: string, options: ReadFileOptions, policy: ReadPolicy): Promise<FileRead> {
  const { canonicalPath } = located;
  let fd: number;
  try {
    fd = openRegular(regularFile(located, path));
  } finally {
    located.close();
  }
  try {
    const { bytes, lines, signal } = options;
    if (lines !== undefined) {
      const read = (size: number) => readLines(fd, size, lines, signal);
      const { result, size } = await snapshot(fd, path, { read, same: sameLines, signal });
      return { ...result, size, canonicalPath };
    }
    const read = (size: number) => {
      if (bytes === undefined && size > policy.maxReadBytes) throw tooLarge(path, size, policy.maxReadBytes);
      const offset = Math.min(bytes?.offset ?? 0, size);
      return readRange(fd, offset, Math.min(bytes?.length ?? size, size - offset), signal);
    };
    const { result: data, size } = await snapshot(fd, path, { read, same: sameBytes, signal });
    if (size === 0) refuseHiddenContent(fd, path);
    return { data, size, canonicalPath };
  } finally {
    closeSync(fd);
  }
}

/** The regular file that was located. Throws `not_found`, `is_directory`, `not_directory` or `not_regular`. */
export function regularFile({ object, mustBeDirectory }: Located, path: string): LocatedObject {
  if (object === undefined) throw refusal("not_found", `${JSON.stringify(path)} does not exist. List its directory to see what is there.`);
  const kind = kindOf(object.stats);
  if (kind === "directory") throw refusal("is_directory", `${JSON.stringify(path)} is a directory. List it, or name a file in it.`);
  if (mustBeDirectory)
    throw refusal("not_directory", `${JSON.stringify(path)} ends in a slash, but it is no directory. Leave the slash out.`);
  if (kind !== "file") {
    throw refusal("not_regular", `${JSON.stringify(path)} is a ${kind.replaceAll("_", " ")}, and only regular files are read or written.`);
  }
  return object;
}

/** Opens a regular file for reading. Never blocks. */
export function openRegular(object: LocatedObject): number {
  const fd = openSync(object.path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    object.verify(fd);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** `length` bytes at `offset`, or as many as there are. Small ranges are read on the spot. */
function readRange(fd: number, offset: number, length: number, signal?: AbortSignal): Uint8Array | Promise<Uint8Array> {
  if (length > SMALL_BYTES) return readLargeRange(fd, offset, length, signal);
  const data = new Uint8Array(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(fd, data, filled, length - filled, offset + filled);
    if (count === 0) return data.slice(0, filled);
    filled += count;
  }
  return data;
}

async function readLargeRange(fd: number, offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
  const data = new Uint8Array(length);
  let filled = 0;
  while (filled < length) {
    checkAbort(signal);
    const wanted = Math.min(8 * CHUNK_BYTES, length - filled);
    const { bytesRead } = await readAsync(fd, data, filled, wanted, offset + filled);
    if (bytesRead === 0) return data.slice(0, filled);
    filled += bytesRead;
  }
  return data;
}

/** The first `size` bytes in chunks that are reused: the callee keeps nothing of them. */
export async function eachChunk(fd: number, size: number, use: (chunk: Uint8Array) => void, signal?: AbortSignal): Promise<void> {
  if (size <= SMALL_BYTES) return use(await readRange(fd, 0, size));
  const buffer = new Uint8Array(CHUNK_BYTES);
  for (let at = 0; at < size; ) {
    checkAbort(signal);
    const { bytesRead } = await readAsync(fd, buffer, 0, Math.min(CHUNK_BYTES, size - at), at);
    if (bytesRead === 0) return;
    use(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
}

async function readLines(fd: number, size: number, lines: NonNullable<ReadFileOptions["lines"]>, signal?: AbortSignal): Promise<LineSlice> {
  const slicer = createLineSlicer(lines);
  await eachChunk(fd, size, slicer.push, signal);
  return slicer.finish();
}

/** A filesystem that makes its files up can call them empty: silence would be a lie. */
function refuseHiddenContent(fd: number, path: string): void {
  if (fstatSync(fd).size !== 0 || readSync(fd, new Uint8Array(1), 0, 1, 0) === 0) return;
  throw refusal(
    "not_regular",
    `${JSON.stringify(path)} says that it is empty, yet there is something to read: its filesystem makes it up. Use a command for it.`,
  );
}

function tooLarge(path: string, size: number, most: number): Error {
  return refusal(
    "too_large",
    `${JSON.stringify(path)} has ${size} bytes, and at most ${most} are read at once. Ask for a slice of it, by bytes or by lines.`,
    {
      details: { size, maxBytes: most },
    },
  );
}

function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}

function sameLines(one: LineSlice, other: LineSlice): boolean {
  return one.totalLines === other.totalLines && sameBytes(one.data, other.data) && one.firstLineBytes === other.firstLineBytes;
}
