export type ImageType = "png" | "jpeg" | "gif" | "webp";

export type ContentType =
  | { readonly kind: "text" }
  | { readonly kind: "image"; readonly type: ImageType; readonly mimeType: string }
  /** `name` for people: "gzip archive". `encoding` for text in an encoding that is not UTF-8: "UTF-16LE". */
  | { readonly kind: "binary"; readonly name: string; readonly encoding?: string };

/** Looked at: what a target sends as `head`, 8 KiB. */
export const HEAD_BYTES = 8192;

const IMAGES: readonly (readonly [ImageType, (head: Uint8Array) => boolean])[] = [
  ["png", (head) => startsWith(head, "\x89PNG\r\n\x1a\n")],
  ["jpeg", (head) => startsWith(head, "\xff\xd8\xff")],
  ["gif", (head) => startsWith(head, "GIF87a") || startsWith(head, "GIF89a")],
  ["webp", (head) => startsWith(head, "RIFF") && startsWith(head, "WEBP", 8)],
];

/* UTF-32LE begins like UTF-16LE, so it comes first. */
const ENCODINGS: readonly (readonly [string, string])[] = [
  ["\xff\xfe\0\0", "UTF-32LE"],
  ["\0\0\xfe\xff", "UTF-32BE"],
  ["\xff\xfe", "UTF-16LE"],
  ["\xfe\xff", "UTF-16BE"],
];

const BINARIES: readonly (readonly [string, string])[] = [
  ["%PDF-", "PDF document"],
  ["\x1f\x8b", "gzip archive"],
  ["\x7fELF", "ELF executable or library"],
  ["PK\x03\x04", "zip archive"],
  ["BZh", "bzip2 archive"],
  ["\xfd7zXZ\0", "xz archive"],
  ["\x28\xb5\x2f\xfd", "zstd archive"],
  ["SQLite format 3\0", "SQLite database"],
  ["\0asm", "WebAssembly module"],
];

/** What a file is, by its first bytes and never by its name. Text is what has no known magic and no NUL among them. */
export function detectType(bytes: Uint8Array): ContentType {
  const head = bytes.subarray(0, HEAD_BYTES);
  for (const [type, matches] of IMAGES) if (matches(head)) return { kind: "image", type, mimeType: `image/${type}` };
  for (const [magic, encoding] of ENCODINGS) if (startsWith(head, magic)) return { kind: "binary", name: `${encoding} text`, encoding };
  const known = BINARIES.find(([magic]) => startsWith(head, magic) && (magic !== "BZh" || head.includes(0)));
  if (known !== undefined) return { kind: "binary", name: known[1] };
  return head.includes(0) ? { kind: "binary", name: "data with NUL bytes" } : { kind: "text" };
}

function startsWith(head: Uint8Array, magic: string, at = 0): boolean {
  if (head.length < at + magic.length) return false;
  for (let index = 0; index < magic.length; index += 1) if (head[at + index] !== magic.charCodeAt(index)) return false;
  return true;
}
