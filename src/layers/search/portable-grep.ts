import type { GrepLine, GrepQuery, GrepResult, SearchOptions } from "../../contract/operations.js";
import { matchingLines } from "./grep-lines.js";
import { directMatcher, workerMatcher } from "./matcher.js";
import { type OpenFile, openFiles } from "./open-files.js";
import { compilePattern } from "./patterns.js";
import type { SearchPlace } from "./place.js";

interface PortableGrepOptions extends SearchOptions<GrepLine> {
  /** How long the pattern may be at work on one file. Default 5 s. */
  readonly deadlineMs?: number;
}

/** Files being read while one is searched. */
const READ_AHEAD = 8;

/**
 * `grep` over the file verbs alone, with JavaScript's regular expressions. Honours .gitignore; passes over and counts what
 * is binary, not a regular file, not readable or larger than 32 MiB. A pattern that backtracks for ever rejects `timeout`.
 */
export async function portableGrep(
  place: SearchPlace,
  root: string,
  query: GrepQuery,
  options: PortableGrepOptions = {},
): Promise<GrepResult> {
  const { signal, onBatch, deadlineMs = 5_000 } = options;
  const regex = compilePattern(query);
  const { files, unreadable } = await openFiles(place, root, query.glob, signal);
  const matcher = query.literal ? directMatcher(regex) : workerMatcher(regex, deadlineMs);
  const lines: GrepLine[] = [];
  let matches = 0;
  let limitReached = false;
  let skipped = 0;

  const search = async ({ path, content }: OpenFile): Promise<void> => {
    const text = await content;
    if (text === undefined) {
      skipped += 1;
      return;
    }
    const found = await matchingLines(matcher, path, text, { ...query, limit: query.limit - matches }, signal);
    for (const line of found.lines) lines.push(line);
    matches += found.matches;
    limitReached = found.limitReached;
    if (found.lines.length > 0) onBatch?.(found.lines);
  };

  const ahead: OpenFile[] = [];
  try {
    for await (const file of files) {
      if (ahead.push(file) < READ_AHEAD) continue;
      await search(ahead.shift() as OpenFile);
      if (limitReached) break;
    }
    while (!limitReached && ahead.length > 0) await search(ahead.shift() as OpenFile);
  } finally {
    matcher.close();
  }
  return { lines, matches, limitReached, engine: "walk", ignoreRules: true, skipped: skipped + unreadable() };
}
