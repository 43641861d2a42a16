import { abortError, GloveboxError } from "../../src/contract/errors.js";
import type { FileRead, ReadFileOptions } from "../../src/contract/operations.js";
import { errorOf, refusal } from "./errors.js";
import { type Frame, type LaneCall, LaneLost } from "./lane.js";
import type { LanePool } from "./lane-pool.js";
import { plainPath } from "./paths.js";
import { attemptsOf, lastOf, type Words, wordsOf } from "./reply.js";
import { DEFAULT_SLICE_BYTES, HEAD_BYTES, sliceLines } from "./slices.js";

/** What a shared lane carries without holding others up. Larger files go on a lane of their own. */
const INLINE_BYTES = 1024 * 1024;
const INLINE_LINES_BYTES = 4 * 1024 * 1024;
const IDLE_MS = 20_000;
const LONG_IDLE_MS = 120_000;
const SMALL_BLOCK = 4096;
const LARGE_BLOCK = 65_536;
/** Room for the attempts of a file that keeps changing, and for the first blocks of a large one. */
const SLACK_BYTES = 4 * 1024 * 1024;

/** `call` on a shared lane for what is small, on a lane of its own for the rest. Rejects a lost lane with what happened to it. */
export async function readCall(lanes: LanePool, call: LaneCall, signal: AbortSignal | undefined, alone = false): Promise<readonly Frame[]> {
  const run = alone
    ? lanes.alone((lane) => unlessAborted(lane.call({ ...call, idleMs: LONG_IDLE_MS }), signal), signal)
    : unlessAborted(lanes.call(call, { repeat: true }), signal);
  try {
    return await run;
  } catch (error) {
    throw error instanceof LaneLost ? error.reason.with({ retrySafe: true }) : error;
  }
}

/** A reading that nobody waits for any more does no harm. */
function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(abortError(signal, { retrySafe: true }));
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

export async function readFile(lanes: LanePool, path: string, maxBytes: number, options: ReadFileOptions = {}): Promise<FileRead> {
  const { bytes, lines, signal } = options;
  if (bytes !== undefined) return await readBytes(lanes, path, bytes, signal);
  if (lines !== undefined) return await readLines(lanes, path, lines, signal);
  const read = async (limit: number, alone: boolean): Promise<FileRead | number> => {
    const call = { verb: "r", arguments: [plainPath(path), limit], maxReplyBytes: 8 * (limit + SLACK_BYTES), idleMs: IDLE_MS };
    const { words, last } = await answer(lanes, call, path, signal, alone);
    if (words.first === "big") return words.number();
    return { data: last.body, size: last.body.byteLength, canonicalPath: words.rest() };
  };
  let result = await read(Math.min(INLINE_BYTES, maxBytes), false);
  if (typeof result === "number" && result <= maxBytes) result = await read(maxBytes, true);
  if (typeof result !== "number") return result;
  throw refusal("too_large", path, { size: result, maxBytes });
}

async function readBytes(
  lanes: LanePool,
  path: string,
  { offset, length }: NonNullable<ReadFileOptions["bytes"]>,
  signal: AbortSignal | undefined,
): Promise<FileRead> {
  const block = length <= LARGE_BLOCK * 4 ? SMALL_BLOCK : LARGE_BLOCK;
  const skip = Math.floor(offset / block);
  const within = offset - skip * block;
  const count = length === 0 ? 0 : Math.ceil((within + length) / block);
  const call = {
    verb: "rb",
    arguments: [plainPath(path), block, skip, count],
    maxReplyBytes: 8 * (count + 1) * block,
    idleMs: IDLE_MS,
  };
  const { words, last } = await answer(lanes, call, path, signal, length > INLINE_BYTES);
  const size = words.number();
  return { data: Buffer.from(last.body.subarray(within, within + length)), size, canonicalPath: words.rest() };
}

async function readLines(
  lanes: LanePool,
  path: string,
  lines: NonNullable<ReadFileOptions["lines"]>,
  signal: AbortSignal | undefined,
): Promise<FileRead> {
  const { start, count, maxBytes = DEFAULT_SLICE_BYTES } = lines;
  const call = (limit: number): LaneCall => ({
    verb: "rl",
    arguments: [plainPath(path), start, count, maxBytes, limit],
    maxReplyBytes: 8 * (maxBytes + SLACK_BYTES),
    idleMs: IDLE_MS,
  });
  let reply = await answer(lanes, call(INLINE_LINES_BYTES), path, signal, false);
  if (reply.words.first === "big") reply = await answer(lanes, call(Number.MAX_SAFE_INTEGER), path, signal, true);
  const { parts, words, last } = reply;
  if (parts.length === 1) {
    return { ...sliceLines(last.body, lines), size: last.body.byteLength, canonicalPath: words.rest() };
  }
  const size = words.number();
  const totalLines = words.number();
  const firstLineBytes = words.number();
  return {
    data: last.body,
    size,
    totalLines,
    head: Buffer.from((parts[0]?.body ?? Buffer.alloc(0)).subarray(0, HEAD_BYTES)),
    ...(firstLineBytes > maxBytes ? { firstLineBytes } : {}),
    canonicalPath: words.rest(),
  };
}

interface Answer {
  readonly parts: readonly Frame[];
  readonly last: Frame;
  readonly words: Words;
}

async function answer(lanes: LanePool, call: LaneCall, path: string, signal: AbortSignal | undefined, alone: boolean): Promise<Answer> {
  const attempts = attemptsOf(await readCall(lanes, call, signal, alone));
  const parts = attempts.at(-1) ?? [];
  const last = lastOf(parts);
  const words = wordsOf(last);
  if (words.first === "no") {
    const steady = /^no busy\b/.test(last.fields.toString("latin1", 0, 8)) ? agreeing(attempts) : undefined;
    if (steady === undefined) throw errorOf(words, path);
    return { parts: steady, last: lastOf(steady), words: wordsOf(lastOf(steady)) };
  }
  if (words.first !== "ok" && words.first !== "big") {
    throw new GloveboxError("unexpected", `The target answered the reading of ${JSON.stringify(path)} with something else. Try again.`, {
      retrySafe: true,
    });
  }
  return { parts, last, words };
}

/** A reading that the next one agreed with, as far as it went: of a file that only grows. */
function agreeing(attempts: readonly (readonly Frame[])[]): readonly Frame[] | undefined {
  return attempts.find((attempt, index) => {
    const next = attempts[index + 1];
    return (
      next?.length === attempt.length &&
      attempt.every(({ body }, part) => (next[part] ?? attempt[part])?.body.subarray(0, body.byteLength).equals(body))
    );
  });
}
