import type { GrepLine, GrepOperations, GrepResult } from "../contract/operations.js";
import { type Static, stringEnum, Type } from "../contract/schema.js";
import { defineTool, type ToolContext, type ToolResult } from "../contract/tool.js";
import { textResult } from "../contract/tool-result.js";
import { quoteName } from "../text/escape.js";
import { formatCount } from "../text/format.js";
import { MAX_LINES, type Truncation, truncateHead } from "../text/truncate.js";
import { checkText } from "./arguments.js";
import { detailsSchema, truncationSchema } from "./details.js";
import { repairNote } from "./paths.js";
import { callLine, showResult } from "./render.js";
import { runSearch, searchNotices } from "./search.js";

/** Matching lines shown unless the call says otherwise. */
export const GREP_LIMIT = 100;
/** Longer lines are cut, in characters. */
export const MAX_GREP_LINE = 500;

export const grepParametersSchema = Type.Object(
  {
    pattern: Type.String({ description: "Regular expression to look for, or plain text with literal" }),
    path: Type.Optional(Type.String({ description: "Directory or file to search (default: the working directory)" })),
    glob: Type.Optional(Type.String({ description: "Search only files that match: *.ts, src/**/*.md (relative to path)" })),
    ignoreCase: Type.Optional(Type.Boolean({ description: "Let upper and lower case match each other (default: false)" })),
    literal: Type.Optional(Type.Boolean({ description: "Take the pattern as plain text (default: false)" })),
    context: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000, description: "Lines to show around each match (default: 0)" })),
    limit: Type.Optional(Type.Integer({ minimum: 1, description: "Most matching lines to show (default: 100, at most 2000)" })),
  },
  { additionalProperties: false },
);
export type GrepParameters = Static<typeof grepParametersSchema>;

export const grepDetailsSchema = detailsSchema({
  path: Type.String({ description: "Where was searched, as given or repaired" }),
  matches: Type.Integer({ description: "Matching lines found, up to the limit" }),
  files: Type.Integer({ description: "Files that they are in" }),
  limitReached: Type.Boolean({ description: "There are more matches than the limit" }),
  truncation: Type.Optional(truncationSchema),
  engine: stringEnum(["ripgrep", "grep", "walk"], { description: "What searched" }),
  ignoreRules: Type.Boolean({ description: ".gitignore was honoured" }),
  skipped: Type.Optional(Type.Integer({ description: "Files passed over" })),
  cutLines: Type.Optional(Type.Integer({ description: "Lines that were cut at 500 characters" })),
});
export type GrepDetails = Static<typeof grepDetailsSchema>;

export const grepTool = defineTool<typeof grepParametersSchema, GrepDetails, GrepOperations>({
  name: "grep",
  label: "Search file contents",
  description:
    "Search the contents of files on the target. Answers with path:line: text for each match, paths relative to the searched directory. " +
    "Honours .gitignore where ripgrep is there; skips binary files. Shows 100 matches unless limit says otherwise, long lines cut at 500 characters.",
  parameters: grepParametersSchema,
  detailsSchema: grepDetailsSchema,
  effect: "read",
  promptSnippet: "Search file contents with a regular expression",
  promptGuidelines: ["Prefer grep to grep or rg in bash: it is bounded, and its answer is easy to read."],
  renderCall({ pattern, path, glob }, style) {
    const where = [path === undefined ? "" : ` in ${path}`, glob === undefined ? "" : ` (${glob})`].join("");
    return callLine("grep", `/${pattern}/${where}`, style);
  },
  renderResult: (result, style) => showResult(result, style, "head"),
  run: searchContents,
});

async function searchContents(parameters: GrepParameters, context: ToolContext<GrepOperations>): Promise<ToolResult<GrepDetails>> {
  const { pattern, path = ".", glob, ignoreCase, literal, context: around, limit = GREP_LIMIT } = parameters;
  checkText(pattern, "pattern");
  const most = Math.min(limit, MAX_LINES);
  const query = {
    pattern,
    limit: most,
    maxLineLength: MAX_GREP_LINE,
    ...(literal === undefined ? {} : { literal }),
    ...(ignoreCase === undefined ? {} : { ignoreCase }),
    ...(glob === undefined ? {} : { glob }),
    ...(around === undefined ? {} : { context: around }),
  };
  const { operations } = context;
  const used = await runSearch<GrepResult, GrepLine>(
    {
      path,
      counted: "matching line",
      advice: "Give a simpler pattern, a smaller path, or a glob.",
      run: (root, options) => operations.grep(root, query, options),
      counts: ({ kind }) => kind === "match",
    },
    context,
  );
  const result = used.value;
  const shown = truncateHead(formatLines(result.lines));
  const cutLines = result.lines.filter(({ cut }) => cut).length;
  const note = repairNote(path, used.path);
  const notices = [
    truncationNotice(shown, result, most),
    cutLines > 0 && `[${formatCount(cutLines, "line")} cut at ${MAX_GREP_LINE} characters and marked …: read the file to see more.]`,
    ...searchNotices(result),
    note !== "" && `[${note}]`,
  ].filter((notice) => notice !== false);
  const nothing = `No match for ${quoteName(pattern)} in ${quoteName(used.path)}. Try another spelling, ignoreCase, literal, or a wider path or glob.`;
  const text = [result.lines.length === 0 ? nothing : shown.text, notices.join("\n")].filter((part) => part !== "").join("\n\n");
  return textResult(text, {
    path: used.path,
    matches: result.matches,
    files: new Set(result.lines.map((line) => line.path)).size,
    limitReached: result.limitReached,
    ...truncationOf(shown, result),
    engine: result.engine,
    ignoreRules: result.ignoreRules,
    ...(result.skipped === undefined ? {} : { skipped: result.skipped }),
    ...(cutLines === 0 ? {} : { cutLines }),
  });
}

/** `path:line: text` for matches, `path-line- text` for context, `--` between parts that do not touch. */
function formatLines(lines: readonly GrepLine[]): string {
  const withContext = lines.some(({ kind }) => kind === "context");
  let before: GrepLine | undefined;
  return lines
    .map((line) => {
      const apart = withContext && before !== undefined && (before.path !== line.path || before.line + 1 !== line.line);
      before = line;
      const mark = line.kind === "match" ? ":" : "-";
      // A name that reads like the marks themselves is quoted.
      const path = quoteName(line.path, /[:-]\d+[:-]/);
      return `${apart ? "--\n" : ""}${path}${mark}${line.line}${mark} ${line.text}${line.cut ? "…" : ""}`;
    })
    .join("\n");
}

function truncationNotice(shown: Truncation, result: GrepResult, limit: number): string | false {
  if (shown.by !== undefined) {
    const why = shown.by === "lines" ? "2,000 lines is the most" : "50 KiB is the most";
    return `[Shown: the first ${formatCount(shown.shownLines, "line")} of the results (${why}). Narrow the pattern, path or glob.]`;
  }
  if (!result.limitReached) return false;
  const raise = limit < MAX_LINES ? "Raise limit, or narrow" : "Narrow";
  return `[Shown: the first ${formatCount(result.matches, "match", "matches")}; there are more. ${raise} the pattern, path or glob.]`;
}

function truncationOf(shown: Truncation, result: GrepResult): Pick<GrepDetails, "truncation"> {
  if (shown.by !== undefined) return { truncation: { shown: shown.shownLines, total: shown.totalLines, by: shown.by } };
  return result.limitReached ? { truncation: { shown: result.matches, by: "limit" } } : {};
}
