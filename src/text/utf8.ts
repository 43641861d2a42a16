import { isUtf8 } from "node:buffer";

export interface Decoded {
  /** Bytes that are not UTF-8 are U+FFFD in it. A byte order mark is kept as U+FEFF. */
  readonly text: string;
  /** True when some bytes were not UTF-8. */
  readonly invalid: boolean;
}

/** Bytes as text. */
export function decodeText(bytes: Uint8Array): Decoded {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  return { text, invalid: !isUtf8(bytes) };
}

/**
 * Bytes as text without loss: a byte that is not part of valid UTF-8 becomes the lone surrogate U+DC00 + byte, which valid
 * UTF-8 cannot give. `encodeLossless` gives the very bytes back, whatever they were.
 */
export function decodeLossless(bytes: Uint8Array): Decoded {
  if (isUtf8(bytes)) return { text: decodeText(bytes).text, invalid: false };
  const parts: string[] = [];
  let validFrom = 0;
  let at = 0;
  while (at < bytes.length) {
    const length = sequenceLength(bytes, at);
    if (length > 0) {
      at += length;
      continue;
    }
    if (validFrom < at) parts.push(decodeText(bytes.subarray(validFrom, at)).text);
    parts.push(String.fromCharCode(0xdc00 + (bytes[at] ?? 0)));
    at += 1;
    validFrom = at;
  }
  if (validFrom < at) parts.push(decodeText(bytes.subarray(validFrom)).text);
  return { text: parts.join(""), invalid: true };
}

/** The bytes of a text that `decodeLossless` made, edited or not. */
export function encodeLossless(text: string): Uint8Array {
  if (!hasLoneSurrogate(text)) return Buffer.from(text);
  const parts: Uint8Array[] = [];
  let from = 0;
  for (const { index, 0: half } of text.matchAll(/\p{Surrogate}/gu)) {
    if (from < index) parts.push(Buffer.from(text.slice(from, index)));
    parts.push(Uint8Array.of(half.charCodeAt(0) & 0xff));
    from = index + 1;
  }
  parts.push(Buffer.from(text.slice(from)));
  return Buffer.concat(parts);
}

/** A text that `decodeLossless` made, for showing: each byte that is not UTF-8 as U+FFFD. */
export function showLossless(text: string): string {
  return hasLoneSurrogate(text) ? text.replace(/\p{Surrogate}/gu, "\ufffd") : text;
}

/** Half of a surrogate pair, which no UTF-8 can hold. */
export function hasLoneSurrogate(text: string): boolean {
  return /\p{Surrogate}/u.test(text);
}

/** How many bytes the valid UTF-8 sequence at `at` has: 1 to 4, or 0 when there is none (cut short, overlong, surrogate, stray). */
export function sequenceLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] ?? 0;
  if (lead < 0x80) return 1;
  const length = lead >= 0xc2 && lead <= 0xdf ? 2 : lead >= 0xe0 && lead <= 0xef ? 3 : lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
  if (length === 0 || at + length > bytes.length) return 0;
  for (let index = 1; index < length; index += 1) {
    const [low, high] = index === 1 ? secondByteRange(lead) : [0x80, 0xbf];
    const byte = bytes[at + index] ?? 0;
    if (byte < low || byte > high) return 0;
  }
  return length;
}

/** What may follow a lead byte: narrower where it would be overlong, a surrogate, or beyond U+10FFFF. */
export function secondByteRange(lead: number): readonly [number, number] {
  if (lead === 0xe0) return [0xa0, 0xbf];
  if (lead === 0xed) return [0x80, 0x9f];
  if (lead === 0xf0) return [0x90, 0xbf];
  if (lead === 0xf4) return [0x80, 0x8f];
  return [0x80, 0xbf];
}
