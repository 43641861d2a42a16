import type { FileRead } from "../contract/operations.js";
import { MAX_BYTES, type Truncation, truncateHead } from "../text/truncate.js";
import { decodeText } from "../text/utf8.js";

/** What is asked of the target: a byte more than can be shown, and a byte order mark, so that what just fits is told from what does not. */
export const SLICE_BYTES = MAX_BYTES + 4;

export interface ShownSlice {
  /** Whole lines, without the last line feed and without a byte order mark. */
  readonly text: string;
  readonly shownLines: number;
  readonly by?: "lines" | "bytes";
  /** Some shown bytes were not UTF-8. */
  readonly invalidUtf8: boolean;
  /** When not even the first line fits: its length, line feed not counted. */
  readonly longLineBytes?: number;
}

/** What of a slice of lines can be shown. `wanted` is how many lines it was asked for, `start` the number of its first. */
export function showSlice(read: FileRead, start: number, wanted: number): ShownSlice {
  const there = Math.min(wanted, (read.totalLines ?? 0) - start + 1);
  const bytes = withoutMark(read.data, start);
  const cut = cutMidLine(read.data, there);
  const whole = cut ? bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1) : bytes;
  const decoded = decodeText(whole);
  const shown: Truncation = truncateHead(decoded.text);
  if (shown.shownLines === 0 && there > 0) {
    const feed = bytes.indexOf(0x0a);
    const length = read.firstLineBytes ?? (feed === -1 ? bytes.length : feed);
    return { text: "", shownLines: 0, by: "bytes", invalidUtf8: false, longLineBytes: length };
  }
  return {
    text: shown.text,
    shownLines: shown.shownLines,
    by: shown.by ?? (cut ? "bytes" : undefined),
    invalidUtf8: decoded.invalid && shown.text.includes("\ufffd"),
  };
}

/** Whether the slice ends in the middle of a line, because it was cut at its most bytes. */
function cutMidLine(data: Uint8Array, lines: number): boolean {
  if (data.at(-1) === 0x0a || data.length === 0) return false;
  let feeds = 0;
  for (let at = data.indexOf(0x0a); at !== -1; at = data.indexOf(0x0a, at + 1)) feeds += 1;
  return feeds + 1 < lines || data.length >= SLICE_BYTES;
}

function withoutMark(data: Uint8Array, start: number): Uint8Array {
  return start === 1 && data[0] === 0xef && data[1] === 0xbb && data[2] === 0xbf ? data.subarray(3) : data;
}
