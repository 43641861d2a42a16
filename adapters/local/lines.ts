import type { FileRead, ReadFileOptions } from "../../src/contract/operations.js";
import { countLineFeeds } from "./line-feeds.js";

const LINE_FEED = 10;
/** Looked at as a whole where no line of the slice can be in it. */
const BLOCK_BYTES = 64 * 1024;
const DEFAULT_MAX_BYTES = 1024 * 1024;
const HEAD_BYTES = 8 * 1024;

export type LineSlice = Pick<FileRead, "data" | "totalLines" | "head" | "firstLineBytes">;

export interface LineSlicer {
  /** The next bytes of the file. Nothing of the chunk is kept by reference. */
  push(chunk: Uint8Array): void;
  finish(): LineSlice;
}

/** Cuts some lines out of a file that passes by in chunks: memory for the slice and the head alone. */
export function createLineSlicer({ start, count, maxBytes = DEFAULT_MAX_BYTES }: NonNullable<ReadFileOptions["lines"]>): LineSlicer {
  const end = start + count;
  const parts: Uint8Array[] = [];
  const heads: Uint8Array[] = [];
  let kept = 0;
  let headBytes = 0;
  /** The line that the next byte belongs to. */
  let line = 1;
  let endsInLineFeed = true;
  let firstLineBytes = 0;

  const keep = (part: Uint8Array): void => {
    const room = Math.min(part.byteLength, maxBytes - kept);
    if (room <= 0) return;
    parts.push(part.slice(0, room));
    kept += room;
  };

  const cut = (block: Uint8Array): void => {
    let from = 0;
    for (let at = block.indexOf(LINE_FEED); at !== -1; at = block.indexOf(LINE_FEED, at + 1)) {
      if (line === start) firstLineBytes += at - from;
      line += 1;
      if (line === end || line === start + 1) keep(block.subarray(from, at + 1));
      if (line === start || line === start + 1) from = at + 1;
    }
    if (line >= start && line < end) keep(block.subarray(from));
    if (line === start) firstLineBytes += block.byteLength - from;
  };

  return {
    push(chunk) {
      if (chunk.byteLength === 0) return;
      if (headBytes < HEAD_BYTES) {
        const head = chunk.slice(0, HEAD_BYTES - headBytes);
        heads.push(head);
        headBytes += head.byteLength;
      }
      for (let at = 0; at < chunk.byteLength; at += BLOCK_BYTES) {
        const block = chunk.subarray(at, at + BLOCK_BYTES);
        const count = countLineFeeds(block);
        if (line >= end || line + count < start) line += count;
        else cut(block);
      }
      endsInLineFeed = chunk[chunk.byteLength - 1] === LINE_FEED;
    },
    finish() {
      return {
        data: joined(parts, kept),
        totalLines: endsInLineFeed ? line - 1 : line,
        head: joined(heads, headBytes),
        ...(firstLineBytes > maxBytes ? { firstLineBytes } : {}),
      };
    },
  };
}

function joined(parts: readonly Uint8Array[], bytes: number): Uint8Array {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return whole;
}
