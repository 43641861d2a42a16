import type { OutputStream } from "../contract/operations.js";
import { createStreamMerger } from "../text/merge-streams.js";
import { MAX_BYTES, type Truncation, truncateTail } from "../text/truncate.js";
import { decodeText } from "../text/utf8.js";

/** Most output of one command that is kept: 32 MiB. What comes after is counted and dropped, but for the tail. */
export const MAX_KEPT_BYTES = 32 * 1024 * 1024;
/** Output up to this is kept in a small buffer; beyond it, in one of the full size, whose pages the system gives as they are used. */
const SMALL_BYTES = 128 * 1024;
/** More of the end than can be shown, whatever is lost of it: a final line feed, and the rest of a character at its start. */
const TAIL_BYTES = MAX_BYTES + 8;

export interface ShownOutput extends Truncation {
  /** Bytes of the whole output. */
  readonly totalBytes: number;
  /** Some shown bytes were not UTF-8 and are U+FFFD. */
  readonly invalidUtf8: boolean;
}

export interface OutputCollector {
  push(chunk: Uint8Array, stream: OutputStream): void;
  /** No more comes: what was held back as the start of a character is output too. */
  finish(): void;
  /** The tail as a model is shown it. */
  shown(): ShownOutput;
  /** The output from its first byte, at most `MAX_KEPT_BYTES`. A view, valid until the next push. */
  kept(): Uint8Array;
  readonly totalBytes: number;
}

/**
 * Collects a command's two streams, merged in order of arrival with no character split, in bounded memory whatever the flood:
 * the first 32 MiB, and the tail that is shown.
 */
export function createOutputCollector(): OutputCollector {
  const merger = createStreamMerger<OutputStream>();
  let head = new Uint8Array(SMALL_BYTES);
  let headBytes = 0;
  // Twice the tail, so that it is moved to the front only every so often.
  const tail = new Uint8Array(2 * TAIL_BYTES);
  let tailBytes = 0;
  let totalBytes = 0;
  let lineFeeds = 0;
  let endsInFeed = false;

  const append = (bytes: Uint8Array): void => {
    totalBytes += bytes.length;
    lineFeeds += countLineFeeds(bytes);
    endsInFeed = bytes.at(-1) === 0x0a;
    const room = MAX_KEPT_BYTES - headBytes;
    const fits = bytes.subarray(0, room);
    if (headBytes + fits.length > head.length) {
      const larger = new Uint8Array(MAX_KEPT_BYTES);
      larger.set(head.subarray(0, headBytes));
      head = larger;
    }
    head.set(fits, headBytes);
    headBytes += fits.length;
    const end = bytes.subarray(Math.max(0, bytes.length - TAIL_BYTES));
    if (tailBytes + end.length > tail.length) {
      const from = Math.max(0, tailBytes - TAIL_BYTES);
      tail.copyWithin(0, from, tailBytes);
      tailBytes -= from;
    }
    tail.set(end, tailBytes);
    tailBytes += end.length;
  };

  return {
    push(chunk, stream) {
      for (const bytes of merger.push(chunk, stream)) append(bytes);
    },
    finish() {
      for (const bytes of merger.flush()) append(bytes);
    },
    shown() {
      const all = totalBytes <= tailBytes;
      const bytes = all ? tail.subarray(0, tailBytes) : wholeCharacters(tail.subarray(Math.max(0, tailBytes - TAIL_BYTES), tailBytes));
      const { text, invalid } = decodeText(bytes);
      const cut = truncateTail(text);
      const totalLines = lineFeeds + (totalBytes > 0 && !endsInFeed ? 1 : 0);
      return { ...cut, totalLines, totalBytes, invalidUtf8: invalid && cut.text.includes("\ufffd") };
    },
    kept: () => head.subarray(0, headBytes),
    get totalBytes() {
      return totalBytes;
    },
  };
}

/** Without the rest of a character whose start is gone. */
function wholeCharacters(bytes: Uint8Array): Uint8Array {
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.subarray(start);
}

/* A plain loop: one call of `indexOf` for each line of a flood of short lines takes twenty times as long. */
function countLineFeeds(bytes: Uint8Array): number {
  let count = 0;
  for (let index = 0; index < bytes.length; index += 1) if (bytes[index] === 0x0a) count += 1;
  return count;
}
