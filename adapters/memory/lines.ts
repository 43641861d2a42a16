import type { FileRead, ReadFileOptions } from "../../src/contract/operations.js";

const LINE_FEED = 10;
const DEFAULT_MAX_BYTES = 1024 * 1024;
const HEAD_BYTES = 8 * 1024;

/** The part of a read that depends on which lines were asked for. */
export function sliceLines(
  data: Uint8Array,
  { start, count, maxBytes = DEFAULT_MAX_BYTES }: NonNullable<ReadFileOptions["lines"]>,
): Pick<FileRead, "data" | "totalLines" | "head" | "firstLineBytes"> {
  let line = 1;
  let from = start === 1 ? 0 : data.byteLength;
  let firstEnd: number | undefined;
  let to = data.byteLength;
  for (let at = data.indexOf(LINE_FEED); at !== -1; at = data.indexOf(LINE_FEED, at + 1)) {
    if (line === start) firstEnd = at;
    if (line === start + count - 1) to = at + 1;
    line += 1;
    if (line === start) from = at + 1;
  }
  const endsInside = data.byteLength > 0 && data.at(-1) !== LINE_FEED;
  const totalLines = endsInside ? line : line - 1;
  const firstLineBytes = Math.max(0, (firstEnd ?? data.byteLength) - from);
  return {
    data: data.slice(from, Math.max(from, Math.min(to, from + maxBytes))),
    totalLines,
    head: data.slice(0, HEAD_BYTES),
    ...(firstLineBytes > maxBytes ? { firstLineBytes } : {}),
  };
}
