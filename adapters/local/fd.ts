import { existsSync, lstatSync } from "node:fs";
import { dirname } from "node:path/posix";
import type { FindQuery, FindResult, FoundPath, SearchOptions } from "../../src/contract/operations.js";
import { refusal } from "./errors.js";
import { kindOf } from "./kinds.js";
import { createNameReader } from "./name-reader.js";
import { runSearch } from "./search-process.js";

export interface Fd {
  readonly program: string;
  /** It honours .gitignore outside of repositories too. Those before 8.7 do not. */
  readonly everywhere: boolean;
}

export interface FindRoot {
  /** Reaches the directory, whatever becomes of its name. */
  readonly directory: string;
  readonly canonicalPath: string;
}

/** Names kept beyond the limit before they are sorted and cut: the first by code point, whatever order they come in. */
const SLACK = 4096;

const FLAGS = [
  "--hidden",
  "--no-global-ignore-file",
  "--exclude",
  ".git/",
  "--print0",
  "--color",
  "never",
  "--strip-cwd-prefix",
  "--case-sensitive",
];

/** Finds with fd: .gitignore honoured, hidden files found, `.git` not entered, symlinks named and not followed. */
export async function findWithFd(
  { program, everywhere }: Fd,
  { directory, canonicalPath }: FindRoot,
  query: FindQuery,
  { signal, onBatch }: SearchOptions<FoundPath> = {},
): Promise<FindResult> {
  const pattern = patternFlags(query.pattern, canonicalPath);
  const flags = [...FLAGS, ...(everywhere ? ["--no-require-git"] : [])];
  let found: string[] = [];
  let limitReached = false;
  const trim = (): void => {
    found.sort(byCodePoint);
    limitReached ||= found.length > query.limit;
    found = found.slice(0, query.limit);
  };
  const read = createNameReader((name) => {
    found.push(name);
    if (found.length > query.limit + SLACK) trim();
  });
  const end = await runSearch({ program, args: [...flags, ...pattern], cwd: directory, onBytes: read, signal });
  if (end.exitCode !== 0 && found.length === 0) await refuseBadPattern(program, [...FLAGS, ...pattern], query, end.complaints);
  trim();
  const paths = found.map((path) => ({ path, kind: kindAt(`${directory}/${path}`) }));
  if (paths.length > 0) onBatch?.(paths);
  return { paths, limitReached, engine: "fd", ignoreRules: everywhere || isInRepository(canonicalPath), skipped: end.complained };
}

/** Whether this fd understands all that is asked of it. */
export async function probeFd(program: string): Promise<Fd | undefined> {
  const takes = async (flag: string): Promise<boolean> => {
    const probe = { program, args: [flag, "--strip-cwd-prefix", "--no-global-ignore-file", "--version"], cwd: "/", onBytes: () => true };
    const { exitCode } = await runSearch(probe).catch(() => ({ exitCode: -1 }));
    return exitCode === 0;
  };
  if (await takes("--no-require-git")) return { program, everywhere: true };
  return (await takes("--hidden")) ? { program, everywhere: false } : undefined;
}

/** Whether a directory lies in a git working tree. */
export function isInRepository(directory: string): boolean {
  return existsSync(`${directory}/.git`) || (directory !== "/" && isInRepository(dirname(directory)));
}

/** A bare name matches at any depth; a path is anchored at the search root; a final slash asks for directories. */
function patternFlags(pattern: string, root: string): readonly string[] {
  const trimmed = pattern.replace(/\/+$/, "");
  const anchored = trimmed.replace(/^(?:\.?\/)+/, "");
  if (anchored === "") throw badPattern(pattern, "it names nothing");
  const kind = trimmed === pattern ? [] : ["--type", "directory"];
  if (!trimmed.includes("/")) return [...kind, "--glob", "--", anchored];
  const literalRoot = (root === "/" ? "" : root).replace(/[\\*?[\]{}!]/g, "\\$&");
  return [...kind, "--glob", "--full-path", "--", `${literalRoot}/${anchored}`];
}

/** fd complains of a bad glob and of unreadable directories in the same way; the first comes at once, in any directory. */
async function refuseBadPattern(program: string, args: readonly string[], query: FindQuery, complaints: string): Promise<void> {
  const { exitCode } = await runSearch({ program, args: ["--max-depth", "1", ...args], cwd: "/", onBytes: () => true });
  if (exitCode !== 0) throw badPattern(query.pattern, complaints.trim());
}

function badPattern(pattern: string, why: string): Error {
  return refusal(
    "invalid_argument",
    `${JSON.stringify(pattern)} is not a glob: ${why}. Use *, ?, [abc], {a,b} and **, as in "src/**/*.ts".`,
  );
}

function kindAt(path: string): FoundPath["kind"] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats === undefined ? "unknown" : kindOf(stats);
}

function byCodePoint(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
