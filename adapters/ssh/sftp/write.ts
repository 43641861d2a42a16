import { basename, dirname } from "node:path/posix";
import type { Stats } from "ssh2";
import { abortError, GloveboxError } from "../../../src/contract/errors.js";
import type { FileWritten, WriteFileOptions } from "../../../src/contract/operations.js";
import { conflict, refusal } from "../../posix/errors.js";
import { isWithin } from "../../posix/paths.js";
import { isStatus, type SftpChannel, STATUS } from "./channel.js";
import { locksOf, temporaryName } from "./lock.js";
import { join, kindOf, locate, requireRegular, resolveExisting, why } from "./paths.js";
import { BLOCK_BYTES, BLOCKS_AHEAD, hashOf } from "./read.js";

export interface WriteContext {
  readonly durable: boolean;
  /** Below it, nobody but the account may look. */
  readonly privateDirectory: string;
}

/** Where the bytes go. */
interface Place {
  readonly canonicalPath: string;
  /** What is there now. */
  readonly old: Stats | undefined;
  /** Directories that were made for it, the outermost first. */
  readonly made: readonly string[];
}

/** Five to six round trips, and one more for every 2 MiB. */
export async function writeFile(
  channel: SftpChannel,
  context: WriteContext,
  path: string,
  data: Uint8Array,
  { ifMatch, signal }: WriteFileOptions,
): Promise<FileWritten> {
  const place = await findPlace(channel, context, path, ifMatch);
  const { canonicalPath, old, made } = place;
  const directory = dirname(canonicalPath);
  const temporary = join(directory, temporaryName());
  let renaming = false;
  try {
    await fill(channel, context, place, temporary, data, signal);
    const put = async (): Promise<FileWritten> => {
      if (ifMatch !== undefined) {
        const actual = await hashOf(channel, canonicalPath);
        if (actual !== ifMatch) throw conflict(path, ifMatch, actual);
      }
      if (signal?.aborted) throw abortError(signal, { retrySafe: true });
      renaming = true;
      await rename(channel, temporary, canonicalPath);
      return { canonicalPath, created: old === undefined };
    };
    const locks = await locksOf(channel);
    return await (locks === undefined ? put() : locks.hold(canonicalPath, put));
  } catch (error) {
    if (renaming && !isStatus(error) && !(error instanceof GloveboxError && error.code === "conflict")) throw unknown(path, error);
    // Answers come in order: the directories go after the file in them.
    void channel.unlink(temporary).catch(() => undefined);
    for (const each of [...made].reverse()) void channel.rmdir(each).catch(() => undefined);
    throw await whyNot(channel, path, directory, data.byteLength, error);
  }
}

async function findPlace(channel: SftpChannel, context: WriteContext, path: string, ifMatch: string | null | undefined): Promise<Place> {
  const slashed = /\/(?:\.{1,2}\/*)?$/.test(path);
  const [link, located] = await Promise.all([
    channel.lstat(path).catch(() => undefined),
    locate(channel, path).catch((error: unknown) => error as GloveboxError),
  ]);
  if (!(located instanceof Error)) {
    requireRegular(located, path);
    return { canonicalPath: located.canonicalPath, old: located.facts, made: [] };
  }
  if (located.code !== "not_found") throw located;
  if (link !== undefined) throw dangling(path);
  if (slashed) throw refusal("is_directory", path);
  const parent = dirname(path);
  const name = basename(path);
  const above = await locate(channel, parent).catch((error: unknown) => error as GloveboxError);
  if (!(above instanceof Error)) {
    if (kindOf(above.facts) !== "directory") throw refusal("not_directory", path);
    return { canonicalPath: join(above.canonicalPath, name), old: undefined, made: [] };
  }
  if (above.code !== "not_found") throw above.with({ path });
  if (typeof ifMatch === "string") throw conflict(path, ifMatch, null);
  const { base, made } = await makeParents(channel, context, parent, path);
  return { canonicalPath: join(base, name), old: undefined, made };
}

async function makeParents(channel: SftpChannel, { privateDirectory }: WriteContext, parent: string, path: string) {
  const { base: found, facts, rest } = await resolveExisting(channel, parent);
  if (facts !== undefined && kindOf(facts) !== "directory") throw refusal("not_directory", path);
  // A link that leads nowhere is no directory, and cannot be made one.
  const link = await channel.lstat(join(found, rest[0] ?? "")).catch(() => undefined);
  if (rest.includes("..") || link !== undefined) throw refusal("not_found", path);
  let base = found;
  const made: string[] = [];
  for (const part of rest) {
    base = join(base, part);
    made.push(base);
  }
  const mode = isWithin(privateDirectory, base) ? 0o700 : undefined;
  const results = await Promise.allSettled(made.map((directory) => channel.mkdir(directory, mode)));
  const failed = results.find((each) => each.status === "rejected");
  if (failed !== undefined) {
    const now = await channel.stat(base).catch(() => undefined);
    // Somebody else made them meanwhile.
    if (now !== undefined && kindOf(now) === "directory") return { base, made: [] };
    for (const directory of [...made].reverse()) void channel.rmdir(directory).catch(() => undefined);
    throw await whyNot(channel, path, found, 4096, failed.reason);
  }
  return { base, made };
}

/** The temporary file, complete: length checked, owner and mode those of the old one, synced where that is wanted. */
async function fill(
  channel: SftpChannel,
  { durable, privateDirectory }: WriteContext,
  { canonicalPath, old }: Place,
  temporary: string,
  data: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<void> {
  const isPrivate = isWithin(privateDirectory, canonicalPath);
  const handle = await channel.open(temporary, "wx", { mode: old !== undefined || isPrivate ? 0o600 : 0o666 });
  try {
    if (old !== undefined) await requireWritable(channel, canonicalPath);
    await send(channel, handle, data, signal);
    const facts = await channel.fstat(handle);
    if (facts.size !== data.byteLength)
      throw new GloveboxError("unexpected", `Of ${data.byteLength} bytes ${facts.size} arrived. Try again.`);
    if (old !== undefined) {
      if (old.uid !== facts.uid || old.gid !== facts.gid) {
        await channel.setAttributes(handle, { uid: old.uid, gid: old.gid }).catch((error) => {
          throw isStatus(error) ? foreign(canonicalPath, old) : error;
        });
      }
      await channel.setAttributes(handle, { mode: old.mode & 0o1777 });
    }
    if (durable) await channel.sync(handle);
    await channel.close(handle);
  } catch (error) {
    void channel.close(handle).catch(() => undefined);
    throw error;
  }
}

/** The directory alone decides about a rename; a file that says no is heeded all the same. */
async function requireWritable(channel: SftpChannel, canonicalPath: string): Promise<void> {
  try {
    void channel.close(await channel.open(canonicalPath, "r+")).catch(() => undefined);
  } catch (error) {
    // A program that runs cannot be opened so either, and can be replaced.
    if (!isStatus(error) || error.code === STATUS.permissionDenied) throw error;
  }
}

async function send(channel: SftpChannel, handle: Buffer, data: Uint8Array, signal: AbortSignal | undefined): Promise<void> {
  const ahead: Promise<void>[] = [];
  for (let at = 0; at < data.byteLength; at += BLOCK_BYTES) {
    if (signal?.aborted) throw abortError(signal, { retrySafe: true });
    const block = channel.write(handle, data.subarray(at, at + BLOCK_BYTES), at);
    block.catch(() => undefined);
    ahead.push(block);
    if (ahead.length >= BLOCKS_AHEAD) await ahead.shift();
  }
  for (const block of ahead) await block;
}

async function rename(channel: SftpChannel, from: string, to: string): Promise<void> {
  if (channel.has("posix-rename@openssh.com")) return await channel.rename(from, to);
  throw new GloveboxError(
    "unsupported",
    "The SFTP server cannot replace a file in one step (posix-rename@openssh.com), so nothing is written there.",
    {
      retrySafe: true,
    },
  );
}

async function whyNot(channel: SftpChannel, path: string, directory: string, bytes: number, error: unknown): Promise<GloveboxError> {
  if (isStatus(error) && error.code === STATUS.failure) {
    const free = await channel.freeBytes(directory);
    if (free !== undefined && free < bytes) return refusal("no_space", path);
  }
  const reason = await why(channel, path, error);
  // What is missing is the directory, or it would have been made.
  return reason.with({ path });
}

function dangling(path: string): GloveboxError {
  const message = `${JSON.stringify(path)} is a symlink to something that does not exist. Write to that path itself, or remove the link.`;
  return new GloveboxError("not_found", message, { retrySafe: true, path });
}

function foreign(path: string, { uid, gid }: Stats): GloveboxError {
  const message = `${JSON.stringify(path)} belongs to ${uid}:${gid} (user:group), and this account cannot write a file that stays theirs. Change its owner.`;
  return new GloveboxError("permission_denied", message, { retrySafe: true, path });
}

function unknown(path: string, cause: unknown): GloveboxError {
  const message = `The connection was lost while ${JSON.stringify(path)} was put in place, and whether it was is not known. It holds either the old content or the new. Read it before you write it again.`;
  return new GloveboxError("unknown_outcome", message, { cause, path });
}
