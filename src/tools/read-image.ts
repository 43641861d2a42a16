import type { ReadOperations } from "../contract/operations.js";
import type { ToolContext, ToolResult } from "../contract/tool.js";
import { textResult } from "../contract/tool-result.js";
import { quoteName } from "../text/escape.js";
import { formatCount } from "../text/format.js";
import { detectType, type ImageType } from "../text/magic.js";
import { fitImage, type ImageFit } from "./fit-image.js";
import type { ReadDetails } from "./read.js";

/** Beyond this an image is described, not fetched: it would have to be held and decoded whole. */
const MAX_IMAGE_BYTES = 32 * 1024 * 1024;

interface ImageFile {
  readonly path: string;
  readonly canonicalPath: string;
  readonly bytes: number;
}

/** Fetches an image whole and answers with it, fitted; or with words, when it cannot be made to fit. */
export async function readImage(
  { type }: { readonly type: ImageType },
  file: ImageFile,
  note: string,
  { operations, signal }: ToolContext<ReadOperations>,
): Promise<ToolResult<ReadDetails>> {
  if (file.bytes > MAX_IMAGE_BYTES) return describeImage(type, file, { ok: false, reason: "it is more than 32 MiB" }, note);
  const { data, size } = await operations.readFile(file.path, { signal });
  const now = detectType(data);
  const fit: ImageFit =
    now.kind === "image" && now.type === type ? await fitImage(type, data) : { ok: false, reason: "it changed while it was read" };
  return describeImage(type, { ...file, bytes: size }, fit, note);
}

/** The result for an image that fits, or the words for one that does not. */
export function describeImage(type: ImageType, file: ImageFile, fit: ImageFit, note: string): ToolResult<ReadDetails> {
  const { original } = fit;
  const size = original === undefined ? "" : `, ${original.width}×${original.height}`;
  const what = `${quoteName(file.path)} is an image (${type.toUpperCase()}${size}, ${formatCount(file.bytes, "byte")})`;
  const details = { ...file, kind: "image", type, ...(original === undefined ? {} : { size: original }) } as const;
  const tail = note === "" ? "" : `\n\n[${note}]`;
  if (!fit.ok) {
    const next = `Make a smaller PNG or JPEG of it with bash (convert, ffmpeg, python) and read that.`;
    return textResult(`${what} that cannot be shown: ${fit.reason}. ${next}${tail}`, details);
  }
  const { data, mimeType, width, height } = fit.image;
  const first = type === "gif" ? " of its first frame" : "";
  const shown = fit.changed ? ` It is shown as a ${width}×${height} ${mimeType.slice("image/".length).toUpperCase()}${first}.` : "";
  const base64 = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");
  return {
    content: [
      { type: "text", text: `${what}.${shown}${tail}` },
      { type: "image", data: base64, mimeType },
    ],
    details: { ...details, shownSize: { width, height } },
    isError: false,
  };
}
