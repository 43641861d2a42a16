/** Enough to tell an animated PNG: its acTL chunk comes before the pixels. */
export const IMAGE_HEAD_BYTES = 4100;

/** Sizes of a bitmap's header that exist: "BM" alone is how many a text begins. */
const BITMAP_HEADER_BYTES: readonly number[] = [12, 40, 52, 56, 64, 108, 124];

/** The MIME type of an image that Pi can show, by its first bytes; null for anything else, animated PNG included. */
export function imageTypeOf(head: Uint8Array): string | null {
  const text = Buffer.from(head).toString("latin1");
  if (text.startsWith("\x89PNG\r\n\x1a\n")) return isAnimated(text) ? null : "image/png";
  if (text.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (text.startsWith("GIF87a") || text.startsWith("GIF89a")) return "image/gif";
  if (text.startsWith("RIFF") && text.startsWith("WEBP", 8)) return "image/webp";
  if (text.startsWith("BM") && head.length >= 18 && BITMAP_HEADER_BYTES.includes(Buffer.from(head).readUInt32LE(14))) return "image/bmp";
  return null;
}

function isAnimated(png: string): boolean {
  const control = png.indexOf("acTL");
  const pixels = png.indexOf("IDAT");
  return control !== -1 && (pixels === -1 || control < pixels);
}
