import { createHash } from "node:crypto";
import { abortError, GloveboxError } from "../../src/contract/errors.js";
import type { FileWritten, WriteFileOptions } from "../../src/contract/operations.js";
import { errorOf } from "./errors.js";
import { type Frame, type Lane, type LaneCall, LaneLost } from "./lane.js";
import type { LanePool } from "./lane-pool.js";
import { plainPath } from "./paths.js";
import { lastOf, wordsOf } from "./reply.js";

/** What a shared lane carries without holding others up. */
const INLINE_BYTES = 1024 * 1024;
const CHUNK_BYTES = 1024 * 1024;
/** Chunks that travel ahead of their answers. */
const MAX_UNDER_WAY = 16;
/** A write may wait for a lock and for a slow disk. */
const IDLE_MS = 60_000;
/** How long a living holder of the file's lock is waited for. */
const LOCK_PATIENCE_MS = 30_000;
const LONGEST_PAUSE_MS = 50;

export interface WriteContext {
  readonly lanes: LanePool;
  /** Why nothing can be written on this target at all, when that is so. */
  readonly refused?: GloveboxError;
  readonly canHash: boolean;
  readonly lockPatienceMs?: number;
}

interface Write extends WriteContext {
  readonly path: string;
  readonly data: Uint8Array;
  readonly ifMatch?: string | null;
  readonly signal?: AbortSignal;
}

/** The small ones in one trip; the others chunk by chunk on a lane of their own, without waiting in between. */
export async function writeFile(
  context: WriteContext,
  path: string,
  data: Uint8Array,
  { ifMatch, signal }: WriteFileOptions = {},
): Promise<FileWritten> {
  if (context.refused !== undefined) throw context.refused.with({ path });
  if (typeof ifMatch === "string" && !context.canHash) {
    throw new GloveboxError(
      "unsupported",
      "The target has nothing to compute a SHA-256 with, so a write cannot be made conditional on one. Install coreutils, busybox or openssl there.",
      {
        retrySafe: true,
        path,
      },
    );
  }
  const write: Write = { ...context, path, data, ...(ifMatch === undefined ? {} : { ifMatch }), ...(signal && { signal }) };
  return await (data.byteLength <= INLINE_BYTES ? writeInline(write) : untilUnlocked(write, () => uploadOnce(write)));
}

async function writeInline(write: Write): Promise<FileWritten> {
  const { lanes, path, data } = write;
  const call: LaneCall = {
    verb: "w",
    arguments: [plainPath(path), expectationOf(write), data.byteLength],
    payload: data,
    maxReplyBytes: 1024,
    idleMs: IDLE_MS,
  };
  return await untilUnlocked(write, async () => {
    // From here on the call settles with what became of the write, aborted or not: nobody may take its lock too early.
    let frames: readonly Frame[];
    try {
      frames = await lanes.call(call, { repeat: false });
    } catch (error) {
      if (!(error instanceof LaneLost)) throw error;
      return error.sent ? await afterTheFact(write, error) : refuse(error.reason);
    }
    return writtenOf(write, frames);
  });
}

async function uploadOnce(write: Write): Promise<FileWritten | "locked"> {
  const { lanes, signal } = write;
  return await lanes.alone(async (lane) => {
    let committing = false;
    try {
      await send(lane, write);
      return await untilUnlocked(write, async () => {
        committing = true;
        return writtenOf(write, await lane.call({ verb: "commit", arguments: [], maxReplyBytes: 1024, idleMs: IDLE_MS }));
      });
    } catch (error) {
      if (error instanceof LaneLost) return committing && error.sent ? await afterTheFact(write, error) : refuse(error.reason);
      await lane.call({ verb: "cancel", arguments: [], maxReplyBytes: 1024, idleMs: IDLE_MS }).catch(() => undefined);
      throw error;
    }
  }, signal);
}

async function send(lane: Lane, write: Write): Promise<void> {
  const { path, data, signal } = write;
  const check = (frames: readonly Frame[]): void => {
    const words = wordsOf(lastOf(frames));
    if (words.first !== "ok") throw errorOf(words, path, write.ifMatch);
  };
  const answers: Promise<void>[] = [];
  const ask = (verb: string, words: LaneCall["arguments"], payload?: Uint8Array): void => {
    const answer = lane.call({ verb, arguments: words, ...(payload && { payload }), maxReplyBytes: 1024, idleMs: IDLE_MS }).then(check);
    // The first one that fails tells why; the others only that it did.
    answer.catch(() => undefined);
    answers.push(answer);
  };
  ask("up", [plainPath(path), expectationOf(write)]);
  for (let at = 0; at < data.byteLength; at += CHUNK_BYTES) {
    if (signal?.aborted) throw abortError(signal, { retrySafe: true });
    const chunk = data.subarray(at, at + CHUNK_BYTES);
    ask("chunk", [chunk.byteLength], chunk);
    if (answers.length > MAX_UNDER_WAY) await answers.shift();
  }
  for (const answer of answers) await answer;
  if (signal?.aborted) throw abortError(signal, { retrySafe: true });
}

function writtenOf({ path, ifMatch }: Write, frames: readonly Frame[]): FileWritten | "locked" {
  const words = wordsOf(lastOf(frames));
  if (words.first === "ok") return { created: words.take() === "1", canonicalPath: words.rest() };
  if (lastOf(frames).fields.toString("latin1") === "no locked") return "locked";
  throw errorOf(words, path, ifMatch);
}

/** A file that somebody else is writing is tried again from here, so that nobody else waits on the lane. */
async function untilUnlocked(write: Write, attempt: () => Promise<FileWritten | "locked">): Promise<FileWritten> {
  const { path, signal, lockPatienceMs = LOCK_PATIENCE_MS } = write;
  const deadline = performance.now() + lockPatienceMs;
  for (let waitMs = 5; ; waitMs = Math.min(waitMs * 2, LONGEST_PAUSE_MS)) {
    if (signal?.aborted) throw abortError(signal, { retrySafe: true });
    const result = await attempt();
    if (result !== "locked") return result;
    if (performance.now() + waitMs > deadline) {
      throw new GloveboxError(
        "busy",
        `${JSON.stringify(path)} is locked by another writer that does not let go of it. Wait for that write, or stop that process.`,
        {
          retrySafe: true,
          path,
        },
      );
    }
    await pause(waitMs, signal);
  }
}

/**
 * The lane was lost with the write on it. What holds now tells what happened, once the lost lane's shell can do nothing
 * any more; otherwise nobody knows.
 */
async function afterTheFact(write: Write, lost: LaneLost): Promise<FileWritten | "locked"> {
  const { lanes, path, data, ifMatch } = write;
  const unknown = new GloveboxError(
    "unknown_outcome",
    `The connection was lost while ${JSON.stringify(path)} was written, and whether it was is not known. It holds either the old content or the new. Read it before you write it again.`,
    { path, cause: lost.reason },
  );
  if (!(await lanes.isGone(lost.lane))) throw unknown;
  let frames: readonly Frame[];
  try {
    frames = await lanes.call({ verb: "hash", arguments: [plainPath(path)], maxReplyBytes: 1024, idleMs: IDLE_MS }, { repeat: true });
  } catch {
    throw unknown;
  }
  const words = wordsOf(lastOf(frames));
  const now = words.first === "ok" ? words.take() : undefined;
  if (now === createHash("sha256").update(data).digest("hex")) return { created: ifMatch === null, canonicalPath: words.rest() };
  // Nobody else wrote it either: it is as if it had never been sent.
  if (now !== undefined && ifMatch !== undefined && now === (ifMatch ?? "-")) return "locked";
  throw unknown;
}

function expectationOf({ ifMatch }: Write): string {
  return ifMatch === undefined ? "-" : (ifMatch ?? "0");
}

function refuse(reason: GloveboxError): never {
  throw reason.with({ retrySafe: true });
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done, { once: true });
  });
}
