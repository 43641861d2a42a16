import type { FileRead } from "../../../src/contract/operations.js";
import { DEFAULT_SLICE_BYTES, HEAD_BYTES, type LinesWanted } from "../../posix/slices.js";

type LineFacts = Required<Pick<FileRead, "data" | "totalLines" | "head">> & Pick<FileRead, "firstLineBytes">;

const LINE_FEED = 10;

export interface LineCollector {
  add(chunk: Buffer): void;
  result(): LineFacts;
}

/** Takes a file piece by piece and keeps no more of it than the lines wanted. */
export function collectLines({ start, count, maxBytes = DEFAULT_SLICE_BYTES }: LinesWanted): LineCollector {
  const head: Buffer[] = [];
  const kept: Buffer[] = [];
  let headRoom = HEAD_BYTES;
  let room = maxBytes;
  let line = 1;
  let firstLineBytes = 0;
  let last = LINE_FEED;
  return {
    add(chunk) {
      if (chunk.byteLength === 0) return;
      if (headRoom > 0) head.push(Buffer.from(chunk.subarray(0, headRoom)));
      headRoom -= Math.min(headRoom, chunk.byteLength);
      for (let at = 0; at < chunk.byteLength; ) {
        const feed = chunk.indexOf(LINE_FEED, at);
        const end = feed === -1 ? chunk.byteLength : feed + 1;
        if (line >= start && line < start + count && room > 0) {
          const piece = Buffer.from(chunk.subarray(at, Math.min(end, at + room)));
          kept.push(piece);
          room -= piece.byteLength;
        }
        if (line === start) firstLineBytes += (feed === -1 ? end : feed) - at;
        if (feed !== -1) line += 1;
        at = end;
      }
      last = chunk[chunk.byteLength - 1] ?? last;
    },
    result: () => ({
      data: Buffer.concat(kept),
      totalLines: last === LINE_FEED ? line - 1 : line,
      head: Buffer.concat(head),
      ...(firstLineBytes > maxBytes ? { firstLineBytes } : {}),
    }),
  };
}
