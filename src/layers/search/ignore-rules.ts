import { relative as relativePath } from "node:path/posix";
import type { Entry, FileVerbs } from "../../contract/operations.js";
import { parseGitignore } from "./gitignore.js";
import { join, passOver, type SearchPlace } from "./place.js";

/** What the .gitignore files of a directory and of those above it rule out. */
export interface IgnoreRules {
  /** `path` is relative to the search root. The directories above it are taken to be not ignored. */
  ignores(path: string, directory: boolean): boolean;
}

type Gitignore = ReturnType<typeof parseGitignore>;

/** More of one .gitignore file than this is not read. */
const MAX_BYTES = 256 * 1024;

const NONE: IgnoreRules = { ignores: () => false };

/**
 * The rules that apply inside `directory`, which is `relative` to the search root ("" for the root itself): its own
 * .gitignore goes before those `above`, none of which reach into a repository of its own.
 */
export async function rulesOf(
  files: Pick<FileVerbs, "readFile">,
  directory: string,
  relative: string,
  entries: readonly Entry[],
  above: IgnoreRules,
  signal?: AbortSignal,
): Promise<IgnoreRules> {
  const inherited = isRepository(entries) ? NONE : above;
  const own = await readRules(files, directory, entries, signal);
  const skipped = relative === "" ? 0 : relative.length + 1;
  return own === undefined ? inherited : stacked(own, (path) => path.slice(skipped), inherited);
}

/**
 * The rules that reach the search root from above: of the directories between the working directory and it, no further
 * up than its repository. A root that they ignore was asked for by name, so they have no say in it.
 */
export async function rulesAbove({ files, cwd }: SearchPlace, root: string, signal?: AbortSignal): Promise<IgnoreRules> {
  const below = relativePath(cwd, root);
  if (below === "" || below === ".." || below.startsWith("../")) return NONE;
  const names = below.split("/");
  const levels = await Promise.all(
    names.map(async (_name, depth) => {
      const directory = depth === 0 ? cwd : join(cwd, names.slice(0, depth).join("/"));
      const entries = (await files.readdir(directory, { signal }).catch(passOver)) ?? [];
      return { entries, own: await readRules(files, directory, entries, signal), toRoot: names.slice(depth) };
    }),
  );
  return levels.reduce<IgnoreRules>((above, { entries, own, toRoot }) => {
    const inherited = isRepository(entries) ? NONE : above;
    if (own === undefined) return inherited;
    const ignoresRoot = toRoot.some((name, index) => own(name, () => toRoot.slice(0, index + 1), true) === "ignored");
    return ignoresRoot ? NONE : stacked(own, (path) => `${toRoot.join("/")}/${path}`, inherited);
  }, NONE);
}

/** `locate` makes a path relative to the directory that `own` is of. */
function stacked(own: Gitignore, locate: (path: string) => string, above: IgnoreRules): IgnoreRules {
  return {
    ignores(path, directory) {
      const name = path.slice(path.lastIndexOf("/") + 1);
      let components: readonly string[] | undefined;
      const split = (): readonly string[] => {
        components ??= locate(path).split("/");
        return components;
      };
      const verdict = own(name, split, directory);
      return verdict === undefined ? above.ignores(path, directory) : verdict === "ignored";
    },
  };
}

function isRepository(entries: readonly Entry[]): boolean {
  return entries.some(({ name }) => name === ".git");
}

async function readRules(
  files: Pick<FileVerbs, "readFile">,
  directory: string,
  entries: readonly Entry[],
  signal: AbortSignal | undefined,
): Promise<Gitignore | undefined> {
  if (!entries.some(({ name, kind }) => name === ".gitignore" && kind === "file")) return undefined;
  const read = await files.readFile(join(directory, ".gitignore"), { bytes: { offset: 0, length: MAX_BYTES }, signal }).catch(passOver);
  return read === undefined ? undefined : parseGitignore(new TextDecoder().decode(read.data));
}
