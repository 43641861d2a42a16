/** Most lines of text that a model is shown. */
export const MAX_LINES = 2000;
/** Most text that a model is shown, in bytes of UTF-8: 50 KiB. */
export const MAX_BYTES = 51_200;

export interface TruncateOptions {
  /** Default 2,000. */
  readonly maxLines?: number;
  /** Bytes of UTF-8. Default 51,200. */
  readonly maxBytes?: number;
}

export interface Truncation {
  /** What is kept, without a final line feed. Whole lines, unless `partialLine`; always whole code points. */
  readonly text: string;
  readonly shownLines: number;
  /** A final line feed is not a line. */
  readonly totalLines: number;
  readonly shownBytes: number;
  /** Without the final line feed. */
  readonly totalBytes: number;
  /** Which limit was met first; absent when all is shown. */
  readonly by?: "lines" | "bytes";
  /** True when one line is longer than `maxBytes`, so that only a part of it is kept (the tail's last line). */
  readonly partialLine: boolean;
}

/** The first lines that fit. A first line longer than `maxBytes` leaves nothing: no line is ever cut. */
export function truncateHead(text: string, options: TruncateOptions = {}): Truncation {
  return truncate(text, options, "head");
}

/** The last lines that fit. A last line longer than `maxBytes` is cut in front, between code points. */
export function truncateTail(text: string, options: TruncateOptions = {}): Truncation {
  return truncate(text, options, "tail");
}

function truncate(input: string, { maxLines = MAX_LINES, maxBytes = MAX_BYTES }: TruncateOptions, keep: "head" | "tail"): Truncation {
  const text = input.endsWith("\n") ? input.slice(0, -1) : input;
  const lines = input === "" ? [] : text.split("\n");
  const sizes = lines.map((line) => Buffer.byteLength(line));
  const totalBytes = sizes.reduce((sum, size) => sum + size, Math.max(0, lines.length - 1));
  const whole = { totalLines: lines.length, totalBytes };
  if (lines.length <= maxLines && totalBytes <= maxBytes) {
    return { text, shownLines: lines.length, shownBytes: totalBytes, ...whole, partialLine: false };
  }
  const at = (index: number): number => (keep === "head" ? index : lines.length - 1 - index);
  let shown = 0;
  let bytes = 0;
  while (shown < lines.length && shown < maxLines) {
    const more = (sizes[at(shown)] ?? 0) + (shown > 0 ? 1 : 0);
    if (bytes + more > maxBytes) break;
    bytes += more;
    shown += 1;
  }
  const by = shown === maxLines ? "lines" : "bytes";
  if (shown === 0 && keep === "tail" && maxLines > 0) {
    const part = lastBytes(lines.at(-1) ?? "", maxBytes);
    return { text: part, shownLines: 1, shownBytes: Buffer.byteLength(part), ...whole, by, partialLine: true };
  }
  const kept = keep === "head" ? lines.slice(0, shown) : lines.slice(lines.length - shown);
  return { text: kept.join("\n"), shownLines: shown, shownBytes: bytes, ...whole, by, partialLine: false };
}

/** The longest end of `text` that fits in `maxBytes` of UTF-8, whole code points only. */
export function lastBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let start = bytes.length - maxBytes;
  while (start < bytes.length && isContinuation(bytes[start])) start += 1;
  return bytes.toString("utf8", start);
}

/** The longest start of `text` that fits in `maxBytes` of UTF-8, whole code points only. */
export function firstBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = Math.max(0, maxBytes);
  while (end > 0 && isContinuation(bytes[end])) end -= 1;
  return bytes.toString("utf8", 0, end);
}

/** The first `maxCharacters` code points of `text`. */
export function firstCharacters(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  let end = 0;
  for (let taken = 0; taken < maxCharacters && end < text.length; taken += 1) end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  return text.slice(0, end);
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
