import type { FindQuery, FindResult, FoundPath, SearchOptions } from "../../contract/operations.js";
import { compileGlob } from "./glob.js";
import type { SearchPlace } from "./place.js";
import { openWalk } from "./walk.js";

/** `find` over `readdir` alone. Honours .gitignore, never enters `.git`, names symlinks without following them. */
export async function portableFind(
  place: SearchPlace,
  root: string,
  query: FindQuery,
  { signal, onBatch }: SearchOptions<FoundPath> = {},
): Promise<FindResult> {
  const matches = compileGlob(query.pattern);
  const walk = await openWalk(place, root, signal);
  const paths: FoundPath[] = [];
  let limitReached = false;
  for await (const found of walk) {
    if (!matches(found)) continue;
    limitReached = paths.length === query.limit;
    if (limitReached) break;
    paths.push(found);
    onBatch?.([found]);
  }
  return { paths, limitReached, engine: "walk", ignoreRules: true, skipped: walk.unreadable };
}
