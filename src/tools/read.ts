import { GloveboxError } from "../contract/errors.js";
import type { FileRead, ReadOperations } from "../contract/operations.js";
import { type Static, stringEnum, Type } from "../contract/schema.js";
import { defineTool, type ToolContext, type ToolResult } from "../contract/tool.js";
import { errorResult, textResult } from "../contract/tool-result.js";
import { quoteName } from "../text/escape.js";
import { formatCount, formatNumber } from "../text/format.js";
import { detectType } from "../text/magic.js";
import { quoteShellPath } from "../text/shell-quote.js";
import { MAX_LINES } from "../text/truncate.js";
import { checkPath } from "./arguments.js";
import { detailsSchema, truncationSchema } from "./details.js";
import { repairNote, useExisting } from "./paths.js";
import { withHeartbeat } from "./progress.js";
import { readImage } from "./read-image.js";
import { SLICE_BYTES, showSlice } from "./read-slice.js";
import { callLine, showResult } from "./render.js";

export const readParametersSchema = Type.Object(
  {
    path: Type.String({ description: "File to read: absolute, or relative to the working directory" }),
    offset: Type.Optional(Type.Integer({ minimum: 1, description: "Line to start at, counted from 1 (default 1)" })),
    limit: Type.Optional(Type.Integer({ minimum: 1, description: "Most lines to read (default and most: 2000)" })),
  },
  { additionalProperties: false },
);
export type ReadParameters = Static<typeof readParametersSchema>;

const sizeSchema = Type.Object({ width: Type.Integer({ description: "Pixels" }), height: Type.Integer({ description: "Pixels" }) });

export const readDetailsSchema = detailsSchema({
  path: Type.String({ description: "The path that was read, as given or repaired" }),
  canonicalPath: Type.String({ description: "The same, absolute, symbolic links resolved" }),
  kind: stringEnum(["text", "image", "binary"], { description: "What the file is, by its first bytes" }),
  bytes: Type.Integer({ description: "Size of the whole file in bytes" }),
  totalLines: Type.Optional(Type.Integer({ description: "Lines of the whole file, of a text" })),
  startLine: Type.Optional(Type.Integer({ description: "First line shown" })),
  endLine: Type.Optional(Type.Integer({ description: "Last line shown" })),
  truncation: Type.Optional(truncationSchema),
  nextOffset: Type.Optional(Type.Integer({ description: "Where to read on" })),
  longLineBytes: Type.Optional(Type.Integer({ description: "Length of a first line that is too long to be shown" })),
  invalidUtf8: Type.Optional(Type.Boolean({ description: "Some shown bytes were not UTF-8 and are U+FFFD" })),
  type: Type.Optional(Type.String({ description: "Of an image or a binary file: its type" })),
  size: Type.Optional(sizeSchema),
  shownSize: Type.Optional(sizeSchema),
});
export type ReadDetails = Static<typeof readDetailsSchema>;

export const readTool = defineTool<typeof readParametersSchema, ReadDetails, ReadOperations>({
  name: "read",
  label: "Read a file",
  description:
    "Read a file. Text comes as its lines, at most 2000 lines or 50 KiB a call: use offset and limit for the rest of a long file. " +
    "PNG, JPEG, GIF and WebP files come as images. Other binary files are described, not printed.",
  parameters: readParametersSchema,
  detailsSchema: readDetailsSchema,
  effect: "read",
  promptSnippet: "Read a text file or an image",
  promptGuidelines: [
    "Use read to look at a file instead of cat or sed in bash.",
    "After a read that says how to go on, call read again with the offset it names.",
  ],
  renderCall({ path, offset, limit }, style) {
    const range =
      offset === undefined && limit === undefined ? "" : `:${offset ?? 1}${limit === undefined ? "" : `-${(offset ?? 1) + limit - 1}`}`;
    return callLine("read", path + range, style);
  },
  renderResult: (result, style) => showResult(result, style, "head"),
  run: readFile,
});

async function readFile(
  { path, offset = 1, limit }: ReadParameters,
  context: ToolContext<ReadOperations>,
): Promise<ToolResult<ReadDetails>> {
  checkPath(path);
  const { operations, signal, onUpdate } = context;
  const wanted = Math.min(limit ?? MAX_LINES, MAX_LINES);
  const used = await withHeartbeat(
    onUpdate,
    (seconds) => `Reading ${quoteName(path)}: ${formatCount(seconds, "second")} so far.`,
    () =>
      useExisting(path, context, (name) =>
        operations.readFile(name, {
          lines: { start: Math.min(offset, Number.MAX_SAFE_INTEGER), count: wanted, maxBytes: SLICE_BYTES },
          signal,
        }),
      ),
  );
  const note = repairNote(path, used.path);
  const read = used.value;
  const facts = { path: used.path, canonicalPath: read.canonicalPath, bytes: read.size };
  const type = detectType(read.head ?? read.data);
  if (type.kind === "image") return await readImage(type, facts, note, context);
  if (type.kind === "binary") {
    return textResult(withNote(binaryText(used.path, type, read.size), note), { ...facts, kind: "binary", type: type.name });
  }
  return showText(read, { offset, limit, wanted, note }, facts);
}

interface Asked {
  readonly offset: number;
  readonly limit: number | undefined;
  readonly wanted: number;
  readonly note: string;
}

function showText(
  read: FileRead,
  { offset, limit, wanted, note }: Asked,
  file: Pick<ReadDetails, "path" | "canonicalPath" | "bytes">,
): ToolResult<ReadDetails> {
  const name = quoteName(file.path);
  const totalLines = read.totalLines ?? 0;
  const facts = { ...file, kind: "text", totalLines } as const;
  if (totalLines === 0 && offset === 1) {
    return textResult(withNote(`${name} is empty: 0 bytes. There is nothing to read; use write to fill it.`, note), facts);
  }
  if (offset > totalLines) {
    const there = totalLines === 0 ? "is empty" : `has ${formatCount(totalLines, "line")}`;
    const next = totalLines === 0 ? "Use write to fill it." : `Give an offset ${totalLines === 1 ? "of 1" : `from 1 to ${totalLines}`}.`;
    const message = `Offset ${offset} is past the end: ${name} ${there}. ${next}`;
    return errorResult(new GloveboxError("invalid_argument", withNote(message, note), { retrySafe: true, path: file.path }), {
      details: facts,
    });
  }
  const slice = showSlice(read, offset, wanted);
  if (slice.longLineBytes !== undefined) {
    const { longLineBytes } = slice;
    return textResult(withNote(longLineText(file.path, offset, longLineBytes, totalLines), note), {
      ...facts,
      longLineBytes,
      truncation: { shown: 0, total: totalLines - offset + 1, by: "bytes" },
      ...(offset < totalLines ? { nextOffset: offset + 1 } : {}),
    });
  }
  const endLine = offset + slice.shownLines - 1;
  const by = slice.by ?? (limit !== undefined && limit <= MAX_LINES ? "limit" : "lines");
  const rest = totalLines - endLine;
  const notices = [
    slice.text === "" && `[Line ${offset} is blank.]`,
    slice.invalidUtf8 && "[Some bytes are not UTF-8 and show as U+FFFD. Use bash for them: od -c, or iconv from their encoding.]",
    rest > 0 && restText(offset, endLine, totalLines, by, limit),
    note !== "" && `[${note}]`,
  ].filter((notice) => notice !== false);
  return textResult([slice.text, notices.join("\n")].filter((part) => part !== "").join("\n\n"), {
    ...facts,
    startLine: offset,
    endLine,
    ...(slice.invalidUtf8 ? { invalidUtf8: true } : {}),
    ...(rest > 0 ? { truncation: { shown: slice.shownLines, total: totalLines - offset + 1, by }, nextOffset: endLine + 1 } : {}),
  });
}

function restText(start: number, end: number, total: number, by: "lines" | "bytes" | "limit", limit: number | undefined): string {
  const why = { lines: "2,000 lines is the most for one call", bytes: "50 KiB is the most for one call", limit: `limit ${limit}` }[by];
  const shown = start === end ? `Line ${start}` : `Lines ${start} to ${end}`;
  return `[${shown} of ${total} (${why}): ${formatCount(total - end, "line remains", "lines remain")}. Read on with offset ${end + 1}.]`;
}

function longLineText(path: string, line: number, bytes: number, totalLines: number): string {
  const what = `Line ${line} of ${quoteName(path)} alone is ${formatNumber(bytes)} bytes, more than the 50 KiB that one call can show.`;
  const next = line < totalLines ? ` The next line is at offset ${line + 1}.` : "";
  return `${what}${next} See its start with bash: sed -n ${line}p ${quoteShellPath(path)} | head -c 2000`;
}

function binaryText(path: string, type: { readonly name: string; readonly encoding?: string }, bytes: number): string {
  const command = type.encoding === undefined ? "od -c -N 256" : `iconv -f ${type.encoding} -t UTF-8`;
  return `${quoteName(path)} is binary (${type.name}, ${formatCount(bytes, "byte")}), so it is not printed. Look at it with bash: ${command} ${quoteShellPath(path)}`;
}

function withNote(text: string, note: string): string {
  return note === "" ? text : `${text}\n\n[${note}]`;
}
