import { GloveboxError } from "../../src/contract/errors.js";
import type { GrepLine, GrepQuery, GrepResult, SearchOptions } from "../../src/contract/operations.js";
import type { TargetFacts } from "./facts.js";
import { globRegex } from "./glob-regex.js";
import { createLineCollector, grepLines, ripgrepLines } from "./grep-output.js";
import { quote } from "./quote.js";
import type { RunSearch } from "./search.js";

const MAX_LINE_LENGTH = 500;
/** The status by which a script says that the pattern is none. */
const BAD_PATTERN = 3;

/** Hidden files are searched, `.git` directories, binary and special files are not; symlinks are not followed. */
export async function grepBy(
  engine: "ripgrep" | "grep",
  facts: TargetFacts,
  run: RunSearch,
  root: string,
  query: GrepQuery,
  { signal, onBatch }: SearchOptions<GrepLine> = {},
): Promise<GrepResult> {
  if (/[\r\n]/.test(query.pattern)) {
    throw new GloveboxError(
      "invalid_argument",
      "A pattern cannot span lines, and this one has a line break in it. Search for one of its lines.",
      { retrySafe: true },
    );
  }
  const { limit, context = 0, maxLineLength = MAX_LINE_LENGTH } = query;
  const collector = createLineCollector({ limit, context, maxLineLength, ...(onBatch && { onBatch }) });
  const read = (engine === "ripgrep" ? ripgrepLines : grepLines)((line) => collector.take(line));
  // Each match has its context, a separator and perhaps its file's name before it.
  const mostLines = (limit + 1) * (2 * context + 3);
  const script = engine === "ripgrep" ? ripgrepScript(query, mostLines) : grepScript(facts, query, mostLines);
  const end = await run({ root, needs: "any", script, onBytes: read, ...(signal && { signal }) });
  if (end.status === BAD_PATTERN) throw badPattern(engine, query.pattern, end.complaints);
  const { lines, matches, limitReached } = collector.result();
  return { lines, matches, limitReached, engine, ignoreRules: engine === "ripgrep", skipped: end.complained };
}

function ripgrepScript(query: GrepQuery, mostLines: number): string {
  const { pattern, literal, ignoreCase, glob, context = 0, limit, maxLineLength = MAX_LINE_LENGTH } = query;
  const flags = [
    ...[
      "rg",
      "--no-config",
      "--null",
      "--line-number",
      "--with-filename",
      "--no-heading",
      "--color",
      "never",
      "--hidden",
      "--no-require-git",
    ],
    ...["--no-ignore-global", "--sort", "path", "--crlf", "--glob", "!.git/", "--max-count", String(limit + 1)],
    // In bytes: a longer line has more characters than are shown, so what is put behind its beginning is cut off.
    ...["--max-columns", String(4 * maxLineLength), "--max-columns-preview"],
    ...(context > 0 ? ["--context", String(context)] : []),
    ...(literal ? ["--fixed-strings"] : []),
    ...(ignoreCase ? ["--ignore-case"] : ["--case-sensitive"]),
    ...(glob === undefined ? [] : globFlags(glob)),
    ...["-e", pattern, "--"],
  ];
  const rg = flags.map(quote).join(" ");
  // Status 2 is a bad pattern, or some file that could not be read: over no file it can only be the pattern.
  return `{ ${rg} "\${one:-./}" </dev/null; s_=$?; if [ "$s_" = 2 ] && { ${rg} - </dev/null >/dev/null 2>"$err"; [ "$?" = 2 ]; }; then s_=${BAD_PATTERN}; fi; echo "$s_" >"$st"; } | head -n ${mostLines}`;
}

/** A glob given with --glob would find ignored files too; a file type does not, but knows names only. */
function globFlags(glob: string): readonly string[] {
  const anchored = glob.replace(/^\.\//, "");
  if (!anchored.includes("/") && !anchored.includes(":")) return ["--type-add", `glovebox:${anchored}`, "--type", "glovebox"];
  return ["--glob", anchored.startsWith("!") ? `\\${anchored}` : anchored];
}

/** Files with a match are found in one go; each of them is then looked at, until there are enough lines. */
function grepScript({ grepBinary }: TargetFacts, query: GrepQuery, mostLines: number): string {
  const { pattern, literal, ignoreCase, glob, context = 0, limit, maxLineLength = MAX_LINE_LENGTH } = query;
  const how = [literal ? "-F" : "-E", ...(ignoreCase ? ["-i"] : []), ...(grepBinary ? ["-I"] : [])].join(" ");
  const show = `${4 * maxLineLength + 32} ${how} -m ${limit + 1}${context > 0 ? ` -C ${context}` : ""}`;
  const files = glob === undefined ? "" : ` -regex ${quote(globRegex(glob).onlyDirectories ? "" : globRegex(glob).regex)}`;
  return [
    `P=${quote(pattern)} GREP_I=${grepBinary ? 1 : ""}`,
    // Some look at the pattern only when there is a line to look at.
    `echo | grep ${how} -e "$P" >/dev/null`,
    `[ "$?" -lt 2 ] || { echo ${BAD_PATTERN} >"$st"; exit; }`,
    `if [ -n "$one" ]; then matches_in "$one" ${show} | head -n ${mostLines}`,
    `else find . -type d -name .git -prune -o -type f${files} -exec grep -l ${how} -e "$P" -- {} + </dev/null | matches_in_all ${show} | head -n ${mostLines}; fi`,
    'echo 0 >"$st"',
  ].join("\n");
}

function badPattern(engine: string, pattern: string, complaints: string): GloveboxError {
  const position = caretPosition(complaints);
  const where = position === undefined ? "" : ` at character ${position + 1}`;
  const what = complaints.trim().replace(/^[^:]*(?:rg|grep): /, "");
  return new GloveboxError(
    "invalid_argument",
    `${JSON.stringify(pattern)} is not a pattern that ${engine} takes${where}: ${what}\nCorrect it, put a backslash before characters that stand for themselves, or search with literal: true.`,
    { retrySafe: true, details: position === undefined ? {} : { position } },
  );
}

/** ripgrep prints the pattern, indented, and a caret under the place. */
function caretPosition(complaints: string): number | undefined {
  const lines = complaints.split("\n");
  const at = lines.findIndex((line) => /^ {4} *\^/.test(line));
  return at === -1 ? undefined : (lines[at] ?? "").indexOf("^") - 4;
}
