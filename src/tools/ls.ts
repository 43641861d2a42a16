import type { Entry, LsOperations } from "../contract/operations.js";
import { type Static, stringEnum, Type } from "../contract/schema.js";
import { defineTool, lexicalPath, type ToolContext, type ToolResult } from "../contract/tool.js";
import { textResult } from "../contract/tool-result.js";
import { quoteName } from "../text/escape.js";
import { formatCount, formatNumber } from "../text/format.js";
import { compareNames } from "../text/order.js";
import { MAX_LINES, truncateHead } from "../text/truncate.js";
import { checkPath } from "./arguments.js";
import { detailsSchema, truncationSchema } from "./details.js";
import { repairNote, useExisting } from "./paths.js";
import { callLine, showResult } from "./render.js";

/** Entries shown unless the call says otherwise. */
export const LS_LIMIT = 500;

const KINDS = ["file", "directory", "symlink", "fifo", "socket", "block_device", "character_device", "unknown"] as const;

export const lsParametersSchema = Type.Object(
  {
    path: Type.Optional(Type.String({ description: "Directory to list (default: the working directory)" })),
    limit: Type.Optional(Type.Integer({ minimum: 1, description: "Most entries to show (default: 500, at most 2000)" })),
  },
  { additionalProperties: false },
);
export type LsParameters = Static<typeof lsParametersSchema>;

export const lsDetailsSchema = detailsSchema({
  path: Type.String({ description: "The directory that was listed, as given or repaired" }),
  total: Type.Integer({ description: "Entries in it" }),
  entries: Type.Array(
    Type.Object({
      name: Type.String({ description: "As it is on the target" }),
      kind: stringEnum(KINDS, { description: "What it is itself" }),
      linkTarget: Type.Optional(Type.String({ description: "Of a symbolic link: where it points" })),
      linkKind: Type.Optional(stringEnum(KINDS, { description: "Of a symbolic link: what it leads to; absent when it leads nowhere" })),
    }),
    { description: "Those shown" },
  ),
  truncation: Type.Optional(truncationSchema),
});
export type LsDetails = Static<typeof lsDetailsSchema>;

export const lsTool = defineTool<typeof lsParametersSchema, LsDetails, LsOperations>({
  name: "ls",
  label: "List a directory",
  description:
    "List a directory, hidden entries included, sorted by name. Directories end in /, symbolic links show where they point. " +
    "Shows 500 entries unless limit says otherwise.",
  parameters: lsParametersSchema,
  detailsSchema: lsDetailsSchema,
  effect: "read",
  promptSnippet: "List a directory",
  promptGuidelines: ["Prefer ls to ls in bash to see what a directory holds; use find to look into directories below it."],
  renderCall: ({ path }, style) => callLine("ls", path ?? ".", style),
  renderResult: (result, style) => showResult(result, style, "head"),
  run: listDirectory,
});

async function listDirectory(
  { path = ".", limit = LS_LIMIT }: LsParameters,
  context: ToolContext<LsOperations>,
): Promise<ToolResult<LsDetails>> {
  checkPath(path);
  const { operations, place, signal } = context;
  const used = await useExisting(path, context, (name) => operations.readdir(name, { signal }));
  const all = used.value.toSorted((one, other) => compareNames(one.name, other.name));
  const directory = lexicalPath(place.cwd, used.path);
  const most = Math.min(limit, MAX_LINES);
  const shown = truncateHead(
    all
      .slice(0, most)
      .map((entry) => formatEntry(entry, directory, place.root))
      .join("\n"),
  );
  const by = shown.by ?? (all.length > most ? (most < limit ? ("lines" as const) : ("limit" as const)) : undefined);
  const note = repairNote(path, used.path);
  const notices = [by !== undefined && cutNotice(shown.shownLines, all.length, by), note !== "" && `[${note}]`].filter(
    (notice) => notice !== false,
  );
  const listing = all.length === 0 ? `${quoteName(used.path)} is an empty directory. Use write to put a file there.` : shown.text;
  return textResult([listing, notices.join("\n")].filter((part) => part !== "").join("\n\n"), {
    path: used.path,
    total: all.length,
    entries: all.slice(0, shown.shownLines).map(({ name, kind, linkTarget, linkKind }) => ({
      name,
      kind,
      ...(linkTarget === undefined ? {} : { linkTarget }),
      ...(linkKind === undefined ? {} : { linkKind }),
    })),
    ...(by === undefined ? {} : { truncation: { shown: shown.shownLines, total: all.length, by } }),
  });
}

function formatEntry({ name, kind, linkTarget, linkKind }: Entry, directory: string, root: string | undefined): string {
  // A name that reads like the marks themselves is quoted.
  const shown = quoteName(name, / -> /);
  if (kind === "directory") return `${shown}/`;
  if (kind !== "symlink") return shown;
  const target = linkTarget === undefined ? "?" : quoteName(linkTarget, /\((broken|outside the root)\)$/);
  return `${shown} -> ${target}${linkKind === undefined ? ` (${whyNowhere(linkTarget, directory, root)})` : ""}`;
}

function whyNowhere(linkTarget: string | undefined, directory: string, root: string | undefined): string {
  if (linkTarget === undefined || root === undefined || root === "/") return "broken";
  const target = lexicalPath(directory, linkTarget);
  return target === root || target.startsWith(`${root}/`) ? "broken" : "outside the root";
}

function cutNotice(shown: number, total: number, by: "lines" | "bytes" | "limit"): string {
  const why = { lines: "2,000 is the most", bytes: "50 KiB is the most", limit: "limit" }[by];
  const next = by === "limit" ? "Raise limit, or look for names with find." : "Look for names with find.";
  return `[Shown: the first ${formatNumber(shown)} of ${formatCount(total, "entry", "entries")} (${why}). ${next}]`;
}
