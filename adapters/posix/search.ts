import { randomBytes } from "node:crypto";
import { abortError, GloveboxError } from "../../src/contract/errors.js";
import type { SearchVerbs } from "../../src/contract/operations.js";
import { atMost } from "./at-most.js";
import { errorOf } from "./errors.js";
import type { TargetFacts } from "./facts.js";
import { type Frame, LaneLost } from "./lane.js";
import type { LanePool } from "./lane-pool.js";
import type { LanePlace } from "./library.js";
import { plainPath } from "./paths.js";
import { lastOf, wordsOf } from "./reply.js";
import { findEngine, grepEngine } from "./search-engines.js";
import { findBy } from "./search-find.js";
import { grepBy } from "./search-grep.js";

/** Longer searches are given up: nobody waits for them. */
const DEADLINE_MS = 120_000;
/** For a search that was killed to say so. */
const LAST_WORDS_MS = 5_000;
const MAX_BYTES = 256 * 1024 * 1024;

export interface SearchRequest {
  readonly root: string;
  readonly needs: "directory" | "any";
  /** Runs in the root; see scripts/search.ts. */
  readonly script: string;
  readonly onBytes: (chunk: Buffer) => void;
  readonly signal?: AbortSignal;
}

export interface SearchEnd {
  /** What the script wrote as the status that counts; NaN when it was cut short. */
  readonly status: number;
  /** Lines of complaint. */
  readonly complained: number;
  readonly complaints: string;
  /** The root lies in a git working tree. */
  readonly inRepository: boolean;
}

export type RunSearch = (request: SearchRequest) => Promise<SearchEnd>;

/** `grep` and `find` where the target has the tools; the portable ones take over where not. */
export function searchVerbs(lanes: LanePool, facts: TargetFacts, place: LanePlace): Partial<SearchVerbs> {
  const run: RunSearch = (request) => runSearch(lanes, place, request);
  const grep = grepEngine(facts);
  const find = findEngine(facts);
  return {
    ...(grep === undefined ? {} : { grep: (root, query, options) => grepBy(grep, facts, run, root, query, options) }),
    ...(find === undefined ? {} : { find: (root, query, options) => findBy(find, facts, run, root, query, options) }),
  };
}

async function runSearch(
  lanes: LanePool,
  { tagPrefix }: LanePlace,
  { root, needs, script, onBytes, signal }: SearchRequest,
): Promise<SearchEnd> {
  const tag = `${tagPrefix}${randomBytes(2).toString("hex").slice(1)}-${randomBytes(6).toString("hex")}`;
  return await lanes.alone(async (lane) => {
    let failure: unknown;
    let stop = (): void => {};
    const stopped = new Promise<void>((resolve) => {
      stop = resolve;
    });
    const abort = (): void => {
      failure ??= abortError(signal as AbortSignal, { retrySafe: true });
      stop();
    };
    const deadline = setTimeout(() => {
      failure ??= tooLong();
      stop();
    }, DEADLINE_MS);
    const take = (chunk: Buffer): void => {
      if (failure !== undefined) return;
      try {
        onBytes(chunk);
      } catch (error) {
        failure = error;
        stop();
      }
    };
    signal?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted) abort();
    const call = {
      verb: "search",
      arguments: [tag, plainPath(root), needs, script],
      maxReplyBytes: MAX_BYTES,
      idleMs: DEADLINE_MS + LAST_WORDS_MS,
      onBody: take,
    };
    const answer = lane.call(call);
    answer.catch(() => undefined);
    try {
      await Promise.race([answer, stopped]);
      if (failure !== undefined) {
        // It ends with what it runs; a lane that does not is given up by who lent it.
        await lanes
          .call({ verb: "ks", arguments: ["KILL", 0, tag], maxReplyBytes: 1024, idleMs: 10_000 }, { repeat: true })
          .catch(() => undefined);
        await atMost(LAST_WORDS_MS, answer);
        throw failure;
      }
      return endOf(await answer, root);
    } catch (error) {
      throw error instanceof LaneLost ? error.reason.with({ retrySafe: true }) : error;
    } finally {
      clearTimeout(deadline);
      signal?.removeEventListener("abort", abort);
    }
  }, signal);
}

function endOf(frames: readonly Frame[], root: string): SearchEnd {
  const words = wordsOf(lastOf(frames));
  if (words.first !== "ok") throw errorOf(words, root);
  return { status: words.number(), complained: words.number(), inRepository: words.take() !== "-", complaints: words.rest() };
}

function tooLong(): GloveboxError {
  return new GloveboxError(
    "timeout",
    `The search was given up after ${DEADLINE_MS / 1000} s. Search a smaller directory, or for a simpler pattern.`,
    { retrySafe: true },
  );
}
