import { GloveboxError } from "../contract/errors.js";
import type { WriteOperations } from "../contract/operations.js";
import { type Static, Type } from "../contract/schema.js";
import { defineTool, type ToolContext, type ToolResult } from "../contract/tool.js";
import { textResult } from "../contract/tool-result.js";
import { quoteName } from "../text/escape.js";
import { formatCount } from "../text/format.js";
import { checkPath, checkText } from "./arguments.js";
import { detailsSchema } from "./details.js";
import { pathRepairs } from "./path-repairs.js";
import { pathToWrite, repairNote } from "./paths.js";
import { callLine, showResult } from "./render.js";

/** Most bytes of UTF-8 that one call writes: 64 MiB. */
export const MAX_WRITE_BYTES = 64 * 1024 * 1024;

export const writeParametersSchema = Type.Object(
  {
    path: Type.String({ description: "File to write: absolute, or relative to the working directory. Missing directories are made" }),
    content: Type.String({ description: "The whole new content of the file" }),
  },
  { additionalProperties: false },
);
export type WriteParameters = Static<typeof writeParametersSchema>;

export const writeDetailsSchema = detailsSchema({
  path: Type.String({ description: "The path that was written, as given or repaired" }),
  canonicalPath: Type.String({ description: "The same, absolute, symbolic links resolved" }),
  bytes: Type.Integer({ description: "Size of the file now, in bytes" }),
  created: Type.Boolean({ description: "True when no file was there before" }),
});
export type WriteDetails = Static<typeof writeDetailsSchema>;

export const writeTool = defineTool<typeof writeParametersSchema, WriteDetails, WriteOperations>({
  name: "write",
  label: "Write a file",
  description: "Write a whole file, new or in place of what is there, all or nothing. Missing directories are made. At most 64 MiB.",
  parameters: writeParametersSchema,
  detailsSchema: writeDetailsSchema,
  effect: "write",
  promptSnippet: "Create a file or replace all of it",
  promptGuidelines: ["Use write for new files and complete rewrites only; change a part of a file with edit where that is available."],
  writes: ({ path }) => (path === "" ? [] : [path, ...pathRepairs(path)]),
  renderCall: ({ path, content }, style) => callLine("write", `${path} (${formatCount(Buffer.byteLength(content), "byte")})`, style),
  renderResult: (result, style) => showResult(result, style, "head"),
  run: writeFile,
});

async function writeFile({ path, content }: WriteParameters, context: ToolContext<WriteOperations>): Promise<ToolResult<WriteDetails>> {
  checkPath(path);
  checkText(content, "content");
  const bytes = Buffer.byteLength(content);
  if (bytes > MAX_WRITE_BYTES) {
    const message = `The content is ${formatCount(bytes, "byte")}, more than the 64 MiB that one call can write. Make the file with bash, or write it in parts.`;
    throw new GloveboxError("too_large", message, { retrySafe: true, path });
  }
  const { operations, signal, ifMatch } = context;
  const used = await pathToWrite(path, context);
  const { canonicalPath, created } = await operations.writeFile(used, Buffer.from(content), {
    signal,
    ...(ifMatch === undefined ? {} : { ifMatch }),
  });
  const note = repairNote(path, used);
  const text = `${created ? "Created" : "Replaced"} ${quoteName(used)}: ${formatCount(bytes, "byte")}.`;
  return textResult(note === "" ? text : `${text}\n\n[${note}]`, { path: used, canonicalPath, bytes, created });
}
