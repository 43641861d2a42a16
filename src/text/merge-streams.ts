import { secondByteRange } from "./utf8.js";

export interface StreamMerger<Name extends string> {
  /** The bytes that can go out now: what this stream held back before, then `chunk`, but for an unfinished character at its end. */
  push(chunk: Uint8Array, stream: Name): readonly Uint8Array[];
  /** What is still held back, once no stream has more. */
  flush(): readonly Uint8Array[];
}

/**
 * Merges byte streams in order of arrival without ever splitting a UTF-8 character of one by bytes of another: at most
 * three bytes per stream are held back until their character is complete. No byte is changed or lost, valid or not.
 */
export function createStreamMerger<Name extends string>(): StreamMerger<Name> {
  const held = new Map<Name, Uint8Array>();
  return {
    push(chunk, stream) {
      if (chunk.length === 0) return [];
      const before = held.get(stream);
      const bytes = before === undefined ? chunk : Buffer.concat([before, chunk]);
      const unfinished = unfinishedLength(bytes);
      if (unfinished === 0) held.delete(stream);
      else held.set(stream, bytes.slice(bytes.length - unfinished));
      return unfinished === bytes.length ? [] : [bytes.subarray(0, bytes.length - unfinished)];
    },
    flush() {
      const rest = [...held.values()];
      held.clear();
      return rest;
    },
  };
}

/** How many bytes at the end are the start of a character that more bytes could complete: 0 to 3. */
export function unfinishedLength(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const lead = bytes[bytes.length - back] ?? 0;
    if (lead >= 0x80 && lead < 0xc0) continue;
    const length = lead >= 0xf0 && lead <= 0xf4 ? 4 : lead >= 0xe0 && lead < 0xf0 ? 3 : lead >= 0xc2 && lead < 0xe0 ? 2 : 1;
    if (back >= length) return 0;
    const second = back > 1 ? bytes[bytes.length - back + 1] : undefined;
    const [low, high] = secondByteRange(lead);
    return second !== undefined && (second < low || second > high) ? 0 : back;
  }
  return 0;
}
