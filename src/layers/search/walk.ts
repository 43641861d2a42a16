import { abortError } from "../../contract/errors.js";
import type { Entry } from "../../contract/operations.js";
import { type IgnoreRules, rulesAbove, rulesOf } from "./ignore-rules.js";
import { byCodePoint, join, passOver, type SearchPlace, type Walked } from "./place.js";

interface Walk extends AsyncIterable<Walked> {
  /** Directories that could not be listed, so far. */
  readonly unreadable: number;
}

/** Listings in flight at once, and how far down the stack to look for them. */
const READ_AHEAD = 8;
const LOOK_AHEAD = 64;

/** How long the walk keeps the event loop to itself. */
const TURN_MS = 20;

type Step =
  | { readonly kind: "entry"; readonly key: string; readonly walked: Walked }
  | { readonly kind: "directory"; readonly key: string; readonly path: string; readonly rules: IgnoreRules; listing?: Promise<Listing> };

interface Listing {
  readonly entries: readonly Entry[];
  readonly rules: IgnoreRules;
}

type List = (path: string, above: IgnoreRules) => Promise<Listing>;

/**
 * Everything under `root`, in code-point order of the relative path: hidden entries included, `.git` directories and what
 * .gitignore files rule out left aside, symlinks named and not followed. Rejects what listing the root rejects. Memory
 * grows with the listings of the directories on the way down, not with the tree; depth costs no stack.
 */
export async function openWalk({ files, cwd }: SearchPlace, root: string, signal?: AbortSignal): Promise<Walk> {
  const list: List = async (path, above) => {
    const directory = path === "" ? root : join(root, path);
    const entries = await files.readdir(directory, { signal });
    return { entries, rules: await rulesOf(files, directory, path, entries, above, signal) };
  };
  const first = await list("", await rulesAbove({ files, cwd }, root, signal));
  let unreadable = 0;
  let turnEndsMs = performance.now() + TURN_MS;
  const breathe = async (): Promise<void> => {
    if (performance.now() < turnEndsMs) return;
    await new Promise((resolve) => setImmediate(resolve));
    turnEndsMs = performance.now() + TURN_MS;
    if (signal?.aborted) throw abortError(signal, { retrySafe: true });
  };

  async function* steps(): AsyncGenerator<Walked> {
    const stack = await stepsOf("", first, breathe);
    for (let step = stack.pop(); step !== undefined; step = stack.pop()) {
      if (signal?.aborted) throw abortError(signal, { retrySafe: true });
      await breathe();
      if (step.kind === "entry") {
        yield step.walked;
        continue;
      }
      step.listing ??= list(step.path, step.rules);
      listAhead(stack, list);
      const listing = await step.listing.catch(passOver);
      if (listing === undefined) unreadable += 1;
      else for (const next of await stepsOf(step.path, listing, breathe)) stack.push(next);
    }
  }
  return {
    [Symbol.asyncIterator]: steps,
    get unreadable() {
      return unreadable;
    },
  };
}

/** Starts listing the directories that come next. */
function listAhead(stack: readonly Step[], list: List): void {
  const directories = stack.slice(-LOOK_AHEAD).filter((step) => step.kind === "directory");
  for (const step of directories.slice(1 - READ_AHEAD)) {
    if (step.listing !== undefined) continue;
    step.listing = list(step.path, step.rules);
    // It is looked at in its turn, or never when the search ends before that: not to count as unhandled.
    step.listing.catch(() => undefined);
  }
}

/** The steps of one directory, the first one last, as a stack wants them. What lies in `a` sorts as `a/`: after `a-b`. */
async function stepsOf(parent: string, { entries, rules }: Listing, breathe: () => Promise<void>): Promise<Step[]> {
  const steps: Step[] = [];
  for (const { name, kind } of entries) {
    await breathe();
    const path = parent === "" ? name : `${parent}/${name}`;
    const directory = kind === "directory";
    if ((directory && name === ".git") || rules.ignores(path, directory)) continue;
    steps.push({ kind: "entry", key: name, walked: { path, kind } });
    if (directory) steps.push({ kind: "directory", key: `${name}/`, path, rules });
  }
  return steps.sort((a, b) => byCodePoint(b.key, a.key));
}
