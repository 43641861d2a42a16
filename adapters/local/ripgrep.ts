import type { GrepLine, GrepQuery, GrepResult, SearchOptions } from "../../src/contract/operations.js";
import { refusal } from "./errors.js";
import { createNameReader } from "./name-reader.js";
import { createRecordReader, type RipgrepRecord } from "./ripgrep-records.js";
import { runSearch } from "./search-process.js";

/** Where a search starts. */
export interface SearchRoot {
  /** Reaches the directory, whatever becomes of its name. */
  readonly directory: string;
  /** The name in it when the root is a file. */
  readonly file?: string;
}

const MAX_LINE_LENGTH = 500;

/** Searches with ripgrep: .gitignore honoured, hidden files searched, `.git` not, files in the order of their paths. */
export async function ripgrep(
  program: string,
  { directory, file }: SearchRoot,
  query: GrepQuery,
  { signal, onBatch }: SearchOptions<GrepLine> = {},
): Promise<GrepResult> {
  if (/[\r\n]/.test(query.pattern))
    throw refusal("invalid_argument", "A pattern cannot span lines, and this one has a line break in it. Search for one of its lines.");
  const chosen =
    query.glob === undefined || namesOnly(query.glob) || file !== undefined
      ? undefined
      : await filesMatching(program, directory, query, signal);
  const collected = collect(query, file, chosen, onBatch);
  const read = createRecordReader(collected.take);
  const args = [...flagsOf(query), "-e", query.pattern, "--", file === undefined ? "./" : `./${file}`];
  const end = await runSearch({ program, args, cwd: directory, onBytes: read, signal });
  if (end.exitCode === 2 && collected.seen() === 0) await refuseBadPattern(program, directory, query, end.complaints, signal);
  return { ...collected.result(), engine: "ripgrep", ignoreRules: true, skipped: end.complained };
}

function flagsOf({ literal, ignoreCase, glob, context = 0, limit }: GrepQuery): string[] {
  return [
    ...["--no-config", "--json", "--hidden", "--no-require-git", "--no-ignore-global", "--sort", "path", "--crlf"],
    ...["--glob", "!.git/", "--max-count", String(limit + 1)],
    ...(context > 0 ? ["--context", String(context)] : []),
    ...(literal ? ["--fixed-strings"] : []),
    ...(ignoreCase ? ["--ignore-case"] : ["--case-sensitive"]),
    ...(glob === undefined ? [] : globFlags(glob)),
  ];
}

/** A glob given with --glob would find ignored files too. A file type does not, but knows names only. */
function globFlags(glob: string): string[] {
  const name = glob.slice(glob.lastIndexOf("/") + 1);
  // Where braces reach over the slash, or a colon would end the glob, all files are searched and the others left out.
  const telling = namesOnly(glob) || (name !== "" && !name.includes("**") && name.split("{").length === name.split("}").length);
  return telling && !name.includes(":") ? ["--type-add", `glovebox:${name}`, "--type", "glovebox"] : [];
}

/** Whether a file type says all of it. */
function namesOnly(glob: string): boolean {
  return !/[/:]/.test(glob);
}

/** The files below the root that match a glob with a slash in it, ignored ones among them. */
async function filesMatching(program: string, cwd: string, { glob = "" }: GrepQuery, signal?: AbortSignal): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const onBytes = createNameReader((name) => found.add(name));
  const anchored = glob.replace(/^\.\//, "");
  const flags = [
    "--no-config",
    "--files",
    "--null",
    "--hidden",
    "--no-ignore",
    "--glob",
    anchored.startsWith("!") ? `\\${anchored}` : anchored,
  ];
  const run = (path: string) => runSearch({ program, args: [...flags, "--", path], cwd, onBytes, signal });
  const { exitCode, complaints } = await run("./");
  // Unreadable directories end it in the same way, but not with a file that can always be named.
  if (exitCode === 2 && found.size === 0 && (await run("/dev/null")).exitCode === 2) throw badGlob(glob, complaints);
  return found;
}

function badGlob(glob: string, complaints: string): Error {
  return refusal(
    "invalid_argument",
    `${JSON.stringify(glob)} is not a glob: ${complaints.trim()}. Use *, ?, [abc], {a,b} and **, as in "src/**/*.ts".`,
  );
}

interface Collected {
  /** False when no more are wanted. */
  take(record: RipgrepRecord): boolean;
  /** Records of lines that came. */
  seen(): number;
  result(): Pick<GrepResult, "lines" | "matches" | "limitReached">;
}

/** Keeps what the query asks for. The lines of a file count once it turned out not to be binary. */
function collect(
  query: GrepQuery,
  file: string | undefined,
  chosen: ReadonlySet<string> | undefined,
  onBatch: SearchOptions<GrepLine>["onBatch"],
): Collected {
  const { limit, context = 0, maxLineLength = MAX_LINE_LENGTH } = query;
  const lines: GrepLine[] = [];
  let matches = 0;
  let limitReached = false;
  let seen = 0;
  let ofFile: GrepLine[] = [];
  let matchesOfFile = 0;
  let lastKept = 0;

  const flush = (): void => {
    // Context that belongs to a match beyond the limit goes with it.
    const batch = limitReached ? ofFile.filter(({ line }) => line <= lastKept + context) : ofFile;
    lines.push(...batch);
    matches += matchesOfFile;
    if (batch.length > 0) onBatch?.(batch);
    ofFile = [];
    matchesOfFile = 0;
  };

  return {
    take(record) {
      if (record.type === "begin") return true;
      if (record.type === "end") {
        if (record.binary) {
          ofFile = [];
          matchesOfFile = 0;
        } else {
          flush();
        }
        return true;
      }
      seen += 1;
      const path = file ?? record.path.replace(/^\.\//, "");
      if (chosen?.has(path) === false) return true;
      if (record.type === "match") {
        if (matches + matchesOfFile === limit) {
          limitReached = true;
          flush();
          return false;
        }
        matchesOfFile += 1;
        lastKept = record.line;
      }
      ofFile.push({ path, line: record.line, kind: record.type, ...cutText(record.text.replace(/\r?\n$/, ""), maxLineLength) });
      return true;
    },
    seen: () => seen,
    result: () => ({ lines, matches, limitReached }),
  };
}

/** Cut at whole characters: code points, not halves of them. */
function cutText(text: string, most: number): Pick<GrepLine, "text" | "cut"> {
  if (text.length <= most) return { text };
  const characters = [...text.slice(0, 2 * most + 1)];
  return characters.length <= most ? { text } : { text: characters.slice(0, most).join(""), cut: true };
}

/** Exit status 2 is a bad pattern or an unreadable file; over no files at all it can only be the pattern or the glob. */
async function refuseBadPattern(program: string, cwd: string, query: GrepQuery, complaints: string, signal?: AbortSignal): Promise<void> {
  const args = [...flagsOf(query), "-e", query.pattern, "--", "-"];
  const { exitCode } = await runSearch({ program, args, cwd, onBytes: () => true, signal });
  if (exitCode !== 2) return;
  const what = complaints.trim().replace(/^[^:]*rg: /, "");
  const position = caretPosition(complaints);
  const where = position === undefined ? "" : ` at character ${position + 1}`;
  throw refusal(
    "invalid_argument",
    `${JSON.stringify(query.pattern)} is not a pattern that ripgrep takes${where}: ${what}\nCorrect it, put a backslash before characters that stand for themselves, or search with literal: true.`,
    { details: position === undefined ? {} : { position } },
  );
}

/** ripgrep prints the pattern, indented, and a caret under the place. */
function caretPosition(complaints: string): number | undefined {
  const lines = complaints.split("\n");
  const at = lines.findIndex((line) => /^ {4} *\^/.test(line));
  return at === -1 ? undefined : (lines[at] ?? "").indexOf("^") - 4;
}
