import { GloveboxError } from "../contract/errors.js";
import type { ToolContext } from "../contract/tool.js";
import { textResult } from "../contract/tool-result.js";
import { quoteName } from "../text/escape.js";
import { formatCount } from "../text/format.js";
import { checkPath } from "./arguments.js";
import { withDeadline } from "./deadline.js";
import { type PathContext, type Used, useExisting } from "./paths.js";
import { createThrottle, withHeartbeat } from "./progress.js";

/** How long a search may take: a pattern that backtracks without end, or a tree without end, is given up then. */
export const SEARCH_DEADLINE_MS = 60_000;

/** What is left of a search when the verb is taken out. */
export interface Search<Result, Item> {
  readonly path: string;
  /** What is counted while it runs: "matching line". */
  readonly counted: string;
  /** What to do when it takes too long. */
  readonly advice: string;
  run(root: string, options: { readonly signal: AbortSignal; onBatch(batch: readonly Item[]): void }): Promise<Result>;
  counts(item: Item): boolean;
}

/** Runs a search with a deadline, its progress reported, its root's name repaired where it has to be. */
export async function runSearch<Result, Item>(
  search: Search<Result, Item>,
  context: ToolContext<PathContext["operations"]>,
): Promise<Used<Result>> {
  const { path, counted, advice } = search;
  checkPath(path);
  let found = 0;
  const progress = (): string => `Searching ${quoteName(path)}: ${formatCount(found, counted)} so far.`;
  const updates = createThrottle(() => context.onUpdate(textResult(progress())));
  const timedOut = (): GloveboxError => {
    const message = `The search took more than ${SEARCH_DEADLINE_MS / 1000} seconds and was stopped. ${advice}`;
    return new GloveboxError("timeout", message, { retrySafe: true, path });
  };
  try {
    return await withDeadline(context.signal, SEARCH_DEADLINE_MS, timedOut, (signal) =>
      withHeartbeat(context.onUpdate, progress, () =>
        useExisting(path, { ...context, signal }, (root) =>
          search.run(root, {
            signal,
            onBatch(batch) {
              found += batch.filter((item) => search.counts(item)).length;
              updates.poke();
            },
          }),
        ),
      ),
    );
  } finally {
    updates.stop();
  }
}

/** What a search could not or did not look at, for its notices. */
export function searchNotices(result: {
  readonly engine: string;
  readonly ignoreRules: boolean;
  readonly skipped?: number;
}): readonly string[] {
  const { engine, ignoreRules, skipped = 0 } = result;
  return [
    ...(ignoreRules
      ? []
      : [
          `[Searched with ${engine === "walk" ? "a plain walk" : engine}, which does not read .gitignore: ignored files are among the results.]`,
        ]),
    ...(skipped === 0 ? [] : [`[Passed over ${formatCount(skipped, "file")}, special or unreadable: ls shows what they are.]`]),
  ];
}
