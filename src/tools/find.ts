import type { FindOperations, FindResult, FoundPath } from "../contract/operations.js";
import { type Static, stringEnum, Type } from "../contract/schema.js";
import { defineTool, type ToolContext, type ToolResult } from "../contract/tool.js";
import { textResult } from "../contract/tool-result.js";
import { quoteName } from "../text/escape.js";
import { formatCount } from "../text/format.js";
import { MAX_LINES, truncateHead } from "../text/truncate.js";
import { checkText } from "./arguments.js";
import { detailsSchema, truncationSchema } from "./details.js";
import { repairNote } from "./paths.js";
import { callLine, showResult } from "./render.js";
import { runSearch, searchNotices } from "./search.js";

/** Paths shown unless the call says otherwise. */
export const FIND_LIMIT = 1000;

export const findParametersSchema = Type.Object(
  {
    pattern: Type.String({
      minLength: 1,
      description: "Glob: *.ts matches names at any depth; one with a slash, src/**/*.ts, is relative to path",
    }),
    path: Type.Optional(Type.String({ description: "Directory to search (default: the working directory)" })),
    limit: Type.Optional(Type.Integer({ minimum: 1, description: "Most paths to show (default: 1000, at most 2000)" })),
  },
  { additionalProperties: false },
);
export type FindParameters = Static<typeof findParametersSchema>;

export const findDetailsSchema = detailsSchema({
  path: Type.String({ description: "Where was searched, as given or repaired" }),
  paths: Type.Array(Type.String({ description: "Relative to path, as it is on the target; a directory ends in /" }), {
    description: "Those shown",
  }),
  limitReached: Type.Boolean({ description: "There are more than the limit" }),
  truncation: Type.Optional(truncationSchema),
  engine: stringEnum(["fd", "find", "walk"], { description: "What searched" }),
  ignoreRules: Type.Boolean({ description: ".gitignore was honoured" }),
  skipped: Type.Optional(Type.Integer({ description: "Directories that could not be read" })),
});
export type FindDetails = Static<typeof findDetailsSchema>;

export const findTool = defineTool<typeof findParametersSchema, FindDetails, FindOperations>({
  name: "find",
  label: "Find files",
  description:
    "Find files and directories by name with a glob. Answers with paths relative to the searched directory, directories ending in /. " +
    "Shows 1000 paths unless limit says otherwise.",
  parameters: findParametersSchema,
  detailsSchema: findDetailsSchema,
  effect: "read",
  promptSnippet: "Find files by name with a glob",
  promptGuidelines: ["Prefer find to find or fd in bash: its patterns are globs, and its answer is bounded."],
  renderCall: ({ pattern, path }, style) => callLine("find", `${pattern}${path === undefined ? "" : ` in ${path}`}`, style),
  renderResult: (result, style) => showResult(result, style, "head"),
  run: findPaths,
});

async function findPaths(
  { pattern, path = ".", limit = FIND_LIMIT }: FindParameters,
  context: ToolContext<FindOperations>,
): Promise<ToolResult<FindDetails>> {
  checkText(pattern, "pattern");
  const { operations } = context;
  const most = Math.min(limit, MAX_LINES);
  const used = await runSearch<FindResult, FoundPath>(
    {
      path,
      counted: "path",
      advice: "Give a smaller path.",
      run: (root, options) => operations.find(root, { pattern, limit: most }, options),
      counts: () => true,
    },
    context,
  );
  const result = used.value;
  const names = result.paths.map(({ path: name, kind }) => (kind === "directory" ? `${name}/` : name));
  const shown = truncateHead(names.map((name) => quoteName(name)).join("\n"));
  const note = repairNote(path, used.path);
  const notices = [
    shown.by === undefined ? result.limitReached && limitNotice(names.length, most) : cutNotice(shown.shownLines),
    ...searchNotices(result),
    note !== "" && `[${note}]`,
  ].filter((notice) => notice !== false);
  const nothing = `No path in ${quoteName(used.path)} matches ${quoteName(pattern)}. Try a wider pattern (**/*name*), or another path.`;
  const text = [names.length === 0 ? nothing : shown.text, notices.join("\n")].filter((part) => part !== "").join("\n\n");
  return textResult(text, {
    path: used.path,
    paths: names.slice(0, shown.shownLines),
    limitReached: result.limitReached,
    ...(shown.by !== undefined
      ? { truncation: { shown: shown.shownLines, ...(result.limitReached ? {} : { total: names.length }), by: shown.by } }
      : result.limitReached
        ? { truncation: { shown: names.length, by: "limit" as const } }
        : {}),
    engine: result.engine,
    ignoreRules: result.ignoreRules,
    ...(result.skipped === undefined ? {} : { skipped: result.skipped }),
  });
}

function limitNotice(shown: number, limit: number): string {
  const raise = limit < MAX_LINES ? "Raise limit, or narrow" : "Narrow";
  return `[Shown: the first ${formatCount(shown, "path")}; there are more. ${raise} the pattern or the path.]`;
}

function cutNotice(shown: number): string {
  return `[Shown: the first ${formatCount(shown, "path")} (50 KiB is the most). Narrow the pattern or the path.]`;
}
