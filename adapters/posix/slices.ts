import type { FileRead, ReadFileOptions } from "../../src/contract/operations.js";

export const HEAD_BYTES = 8 * 1024;
export const DEFAULT_SLICE_BYTES = 1024 * 1024;

export type LinesWanted = NonNullable<ReadFileOptions["lines"]>;
type LineFacts = Required<Pick<FileRead, "data" | "totalLines" | "head">> & Pick<FileRead, "firstLineBytes">;

const LINE_FEED = 10;

/** The lines of a file that is here as a whole. The bytes are copies. */
export function sliceLines(content: Buffer, { start, count, maxBytes = DEFAULT_SLICE_BYTES }: LinesWanted): LineFacts {
  const { length } = content;
  let line = 1;
  let begin = start === 1 ? 0 : length;
  let firstEnd = length;
  let end = length;
  let feeds = 0;
  for (let at = content.indexOf(LINE_FEED); at !== -1; at = content.indexOf(LINE_FEED, at + 1)) {
    feeds += 1;
    if (line === start) firstEnd = at;
    if (line === start + count - 1) end = at + 1;
    line += 1;
    if (line === start) begin = at + 1;
  }
  const totalLines = feeds + (length > 0 && content[length - 1] !== LINE_FEED ? 1 : 0);
  const head = Buffer.from(content.subarray(0, HEAD_BYTES));
  if (start > totalLines) return { data: Buffer.alloc(0), totalLines, head };
  const firstLineBytes = firstEnd - begin;
  return {
    data: Buffer.from(content.subarray(begin, Math.min(end, begin + maxBytes))),
    totalLines,
    head,
    ...(firstLineBytes > maxBytes ? { firstLineBytes } : {}),
  };
}
