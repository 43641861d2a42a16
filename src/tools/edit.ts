import { createHash } from "node:crypto";
import { relative } from "node:path/posix";
import { GloveboxError } from "../contract/errors.js";
import type { EditOperations, Sha256 } from "../contract/operations.js";
import { type Static, stringEnum, Type } from "../contract/schema.js";
import { defineTool, type ToolContext, type ToolResult } from "../contract/tool.js";
import { errorResult, textResult } from "../contract/tool-result.js";
import { diffReplacements, formatDiff, formatPatch, isExact, type LineDiff } from "../text/diff.js";
import { type EditPlan, planEdits } from "../text/edits.js";
import { quoteName } from "../text/escape.js";
import { FOLDS } from "../text/fold.js";
import { formatCount } from "../text/format.js";
import { detectType } from "../text/magic.js";
import { decodeLossless, encodeLossless } from "../text/utf8.js";
import { checkPath, checkText } from "./arguments.js";
import { detailsSchema } from "./details.js";
import { prepareEditArguments } from "./edit-arguments.js";
import { problemText, successText } from "./edit-messages.js";
import { pathRepairs } from "./path-repairs.js";
import { repairNote, useExisting } from "./paths.js";
import { callLine, showDiff, showResult } from "./render.js";

/** Largest file that can be edited: 16 MiB. */
export const MAX_EDIT_BYTES = 16 * 1024 * 1024;
/** How often an edit is put on newer content before it gives up. */
const MAX_ROUNDS = 5;
/** Larger diffs are left out of the details: nobody reads them, and half a patch is none. UTF-16 units. */
const MAX_DIFF_LENGTH = 1024 * 1024;

export const editParametersSchema = Type.Object(
  {
    path: Type.String({ description: "File to edit: absolute, or relative to the working directory" }),
    edits: Type.Array(
      Type.Object(
        {
          oldText: Type.String({ description: "Text to replace, exactly as it is in the file; it must occur there once" }),
          newText: Type.String({ description: "Text to put in its place" }),
        },
        { additionalProperties: false, description: "One replacement" },
      ),
      { minItems: 1, description: "Replacements, all matched against the file as it is now; they must not overlap" },
    ),
  },
  { additionalProperties: false },
);
export type EditParameters = Static<typeof editParametersSchema>;

export const editDetailsSchema = detailsSchema({
  path: Type.String({ description: "The path that was edited, as given or repaired" }),
  canonicalPath: Type.Optional(Type.String({ description: "The same, absolute, symbolic links resolved" })),
  replacements: Type.Optional(
    Type.Array(
      Type.Object({
        edit: Type.Integer({ description: "Which of the edits, from 0" }),
        line: Type.Integer({ description: "Line of the file before, from 1" }),
        overlooked: Type.Array(stringEnum(FOLDS, { description: "A kind of difference" }), {
          description: "What an inexact match overlooked",
        }),
      }),
      { description: "What was replaced, in order of place" },
    ),
  ),
  addedLines: Type.Optional(Type.Integer({ description: "Lines that are new" })),
  removedLines: Type.Optional(Type.Integer({ description: "Lines that are gone" })),
  diff: Type.Optional(Type.String({ description: "The change for people: numbered lines" })),
  patch: Type.Optional(Type.String({ description: "The change as a unified patch, for patch -p1 or git apply" })),
  patchOmitted: Type.Optional(
    stringEnum(["size", "encoding"], { description: "Why there is no patch: too large, or bytes that no text can hold" }),
  ),
  beforeSha256: Type.Optional(Type.String({ description: "SHA-256 of the file before" })),
  afterSha256: Type.Optional(Type.String({ description: "SHA-256 of the file now" })),
  problems: Type.Optional(
    Type.Array(Type.Record(Type.String(), Type.Unknown()), { description: "Why nothing was changed: kind, which edit, line numbers" }),
  ),
});
export type EditDetails = Static<typeof editDetailsSchema>;

export const editTool = defineTool<typeof editParametersSchema, EditDetails, EditOperations>({
  name: "edit",
  label: "Edit a file",
  description:
    "Replace parts of a text file, all or nothing. Each oldText must occur exactly once in the file as it is now, and is taken literally. " +
    "Everything else in the file stays byte for byte; line endings are kept.",
  parameters: editParametersSchema,
  detailsSchema: editDetailsSchema,
  effect: "write",
  promptSnippet: "Replace exact parts of a file",
  promptGuidelines: [
    "In edit, make each oldText as short as it can be and still occur once, and put all changes of one file in one call.",
    "Copy oldText for edit from what read shows; edits are matched against the file before any of them is applied.",
  ],
  prepareArguments: prepareEditArguments,
  writes: ({ path }) => (path === "" ? [] : [path, ...pathRepairs(path)]),
  renderCall: ({ path, edits }, style) => callLine("edit", `${path} (${formatCount(edits.length, "edit")})`, style),
  renderResult(result, style) {
    const diff = (result.details as EditDetails | undefined)?.diff;
    const text = showResult(result, style, "head");
    return diff === undefined || diff === "" ? text : `${text}\n${showDiff(diff, style)}`;
  },
  run: editFile,
});

interface Before {
  readonly path: string;
  readonly text: string;
  readonly sha256: Sha256;
}

async function editFile({ path, edits }: EditParameters, context: ToolContext<EditOperations>): Promise<ToolResult<EditDetails>> {
  checkPath(path);
  for (const [index, { oldText, newText }] of edits.entries()) {
    checkText(oldText, `edits[${index}].oldText`);
    checkText(newText, `edits[${index}].newText`);
  }
  let before = await fetchText(path, context);
  for (let round = 1; ; round += 1) {
    const plan = planEdits(before.text, edits);
    if (!plan.ok) return refuse(before.path, plan, edits.length, round);
    const data = encodeLossless(plan.text);
    try {
      const { canonicalPath } = await context.operations.writeFile(before.path, data, { ifMatch: before.sha256, signal: context.signal });
      const after = { canonicalPath, patchPath: patchPath(context.place.cwd, canonicalPath), sha256: sha256(data), round };
      return await report(path, before, plan, after);
    } catch (error) {
      const changed = error instanceof GloveboxError && error.code === "conflict";
      if (!changed || context.ifMatch !== undefined || round === MAX_ROUNDS)
        throw changed && round > 1 ? busyFile(before.path, error) : error;
    }
    before = await fetchText(before.path, context);
  }
}

/** The whole file as text, without loss, and the hash that the write will be bound to. */
async function fetchText(path: string, context: ToolContext<EditOperations>): Promise<Before> {
  const { operations, signal, ifMatch } = context;
  // One byte more than is allowed: a file that is too large is told without fetching it.
  const bytes = { offset: 0, length: MAX_EDIT_BYTES + 1 };
  const used = await useExisting(path, context, (name) => operations.readFile(name, { bytes, signal }));
  const name = quoteName(used.path);
  const { data, size } = used.value;
  const facts = { retrySafe: true, path: used.path };
  if (size > MAX_EDIT_BYTES || data.length > MAX_EDIT_BYTES) {
    throw new GloveboxError(
      "too_large",
      `${name} is ${formatCount(size, "byte")}; edit takes files up to 16 MiB. Change it with bash (sed, awk).`,
      facts,
    );
  }
  const hash = sha256(data);
  if (ifMatch !== undefined && ifMatch !== hash) {
    const details = { expectedSha256: ifMatch, actualSha256: hash };
    throw new GloveboxError("conflict", `${name} is not what it was when it was last looked at, so it was not changed. Read it again.`, {
      ...facts,
      details,
    });
  }
  const type = detectType(data);
  if (type.kind !== "text") {
    const kind = type.kind === "image" ? `${type.type} image` : type.name;
    throw new GloveboxError("invalid_argument", `${name} is binary (${kind}); edit changes UTF-8 text only. Change it with bash.`, facts);
  }
  return { path: used.path, text: decodeLossless(data).text, sha256: hash };
}

function refuse(path: string, plan: Extract<EditPlan, { ok: false }>, edits: number, round: number): ToolResult<EditDetails> {
  const changed = round > 1 ? "\nAnother writer changed the file while it was edited: read it again first." : "";
  const code = round > 1 ? "conflict" : "invalid_argument";
  const error = new GloveboxError(code, problemText(path, plan.problems, edits) + changed, { retrySafe: true, path });
  return errorResult(error, { details: { path, problems: plan.problems.map((problem) => ({ ...problem })) } });
}

async function report(
  given: string,
  before: Before,
  plan: Extract<EditPlan, { ok: true }>,
  after: { readonly canonicalPath: string; readonly patchPath: string; readonly sha256: Sha256; readonly round: number },
): Promise<ToolResult<EditDetails>> {
  const diff = await diffReplacements(before.text, plan.replacements);
  const notes = [
    after.round > 1 && "Another writer had changed the file meanwhile: the edits were put on its new content.",
    repairNote(given, before.path),
  ].filter((note) => note !== false && note !== "");
  const text = [successText(before.path, plan.replacements, diff.added, diff.removed), ...notes.map((note) => `[${note}]`)].join("\n");
  return textResult(text, {
    path: before.path,
    canonicalPath: after.canonicalPath,
    replacements: plan.replacements.map(({ edit, line, folds }) => ({ edit, line, overlooked: [...folds] })),
    addedLines: diff.added,
    removedLines: diff.removed,
    ...diffDetails(diff, after.patchPath),
    beforeSha256: before.sha256,
    afterSha256: after.sha256,
  });
}

/** The name that `patch -p1` finds from the working directory, or, for a file outside of it, from the root. */
function patchPath(cwd: string, canonicalPath: string): string {
  const inside = relative(cwd, canonicalPath);
  return inside === "" || inside === ".." || inside.startsWith("../") ? canonicalPath.slice(1) : inside;
}

function diffDetails(diff: LineDiff, path: string): Pick<EditDetails, "diff" | "patch" | "patchOmitted"> {
  if (diff.length > MAX_DIFF_LENGTH) return { patchOmitted: "size" };
  const people = { diff: formatDiff(diff) };
  return isExact(diff) ? { ...people, patch: formatPatch(path, diff) } : { ...people, patchOmitted: "encoding" };
}

function busyFile(path: string, error: GloveboxError): GloveboxError {
  const message = `${quoteName(path)} was changed by others ${MAX_ROUNDS} times while it was edited, so it was not changed. Wait for them, read it again, and retry.`;
  return new GloveboxError("conflict", message, { retrySafe: true, path, details: error.details, cause: error });
}

function sha256(data: Uint8Array): Sha256 {
  return createHash("sha256").update(data).digest("hex");
}
