import { createHash } from "node:crypto";
import { GloveboxError } from "../../../src/contract/errors.js";
import type { FileRead, ReadFileOptions, Sha256 } from "../../../src/contract/operations.js";
import { refusal } from "../../posix/errors.js";
import type { SftpChannel } from "./channel.js";
import { collectLines } from "./lines.js";
import { locate, requireRegular, why } from "./paths.js";

/** Every server takes so much in one request, and so many requests fill a long link. */
export const BLOCK_BYTES = 32 * 1024;
export const BLOCKS_AHEAD = 64;
const MAX_TRIES = 4;

/** Three round trips, and one more for every 2 MiB. */
export async function readFile(channel: SftpChannel, path: string, maxBytes: number, options: ReadFileOptions): Promise<FileRead> {
  const { bytes, lines } = options;
  // Opening a FIFO would hold up the whole channel, so that nothing is opened before it is known for a file.
  const located = await locate(channel, path);
  requireRegular(located, path);
  const { canonicalPath } = located;
  return await withFile(channel, canonicalPath, path, async (handle) => {
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      const before = await channel.fstat(handle);
      if (bytes === undefined && lines === undefined && before.size > maxBytes)
        throw refusal("too_large", path, { size: before.size, maxBytes });
      const from = bytes === undefined ? 0 : Math.min(bytes.offset, before.size);
      const to = bytes === undefined ? before.size : Math.min(before.size, from + bytes.length);
      const collector = lines && collectLines(lines);
      const chunks: Buffer[] = [];
      const taken = await readRange(channel, handle, from, to, (chunk) => {
        if (collector === undefined) chunks.push(chunk);
        else collector.add(chunk);
      });
      const after = await channel.fstat(handle);
      if (taken !== to - from || after.size !== before.size || after.mtime !== before.mtime) continue;
      const facts = { size: before.size, canonicalPath };
      return collector === undefined ? { data: Buffer.concat(chunks), ...facts } : { ...collector.result(), ...facts };
    }
    const message = `${JSON.stringify(path)} keeps changing while it is read. Wait until its writer is done, then read it again.`;
    throw new GloveboxError("busy", message, { retrySafe: true, path });
  });
}

/** The hash of what is at `canonicalPath` now; null when nothing is. */
export async function hashOf(channel: SftpChannel, canonicalPath: string): Promise<Sha256 | null> {
  const hash = createHash("sha256");
  try {
    await withFile(channel, canonicalPath, canonicalPath, async (handle) => {
      const { size } = await channel.fstat(handle);
      await readRange(channel, handle, 0, size, (chunk) => void hash.update(chunk));
    });
  } catch (error) {
    if (error instanceof GloveboxError && error.code === "not_found") return null;
    throw error;
  }
  return hash.digest("hex");
}

async function withFile<Result>(
  channel: SftpChannel,
  canonicalPath: string,
  path: string,
  work: (handle: Buffer) => Promise<Result>,
): Promise<Result> {
  let handle: Buffer | undefined;
  try {
    handle = await channel.open(canonicalPath, "r");
    return await work(handle);
  } catch (error) {
    throw await why(channel, path, error);
  } finally {
    if (handle !== undefined) void channel.close(handle).catch(() => undefined);
  }
}

/** Delivers the bytes in order, with many requests under way; returns how many there were. */
async function readRange(
  channel: SftpChannel,
  handle: Buffer,
  from: number,
  to: number,
  deliver: (chunk: Buffer) => void,
): Promise<number> {
  const ahead: Promise<Buffer>[] = [];
  let asked = from;
  let taken = 0;
  while (asked < to || ahead.length > 0) {
    while (asked < to && ahead.length < BLOCKS_AHEAD) {
      const block = channel.read(handle, asked, Math.min(BLOCK_BYTES, to - asked));
      // Whoever waits for an earlier one gets to hear of it first.
      block.catch(() => undefined);
      ahead.push(block);
      asked += BLOCK_BYTES;
    }
    const chunk = (await ahead.shift()) ?? Buffer.alloc(0);
    taken += chunk.byteLength;
    deliver(chunk);
  }
  return taken;
}
