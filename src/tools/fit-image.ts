import { readImageHeader, seenSize } from "../text/image-header.js";
import type { ImageType } from "../text/magic.js";
import { loadSharp, type ResizeImage } from "./load-sharp.js";

/** Models take no more on either side. */
export const MAX_IMAGE_PIXELS = 2000;
/** Base64 that a provider takes for one image: 4.5 MiB. */
export const MAX_IMAGE_BASE64 = 4.5 * 1024 * 1024;

export interface FittedImage {
  readonly data: Uint8Array;
  readonly mimeType: string;
  readonly width: number;
  readonly height: number;
}

export type ImageFit =
  | {
      readonly ok: true;
      readonly original: { readonly width: number; readonly height: number };
      readonly image: FittedImage;
      readonly changed: boolean;
    }
  | { readonly ok: false; readonly original?: { readonly width: number; readonly height: number }; readonly reason: string };

/** Smaller and smaller, until one fits: side in pixels, quality, and whether as JPEG whatever it was. */
const ATTEMPTS = [
  { side: 2000, quality: 85, asJpeg: false },
  { side: 2000, quality: 80, asJpeg: true },
  { side: 2000, quality: 60, asJpeg: true },
  { side: 1400, quality: 60, asJpeg: true },
  { side: 1000, quality: 50, asJpeg: true },
] as const;

/**
 * An image as a model can take it: at most 2000×2000 and 4.5 MiB of base64, the right way up. One that is so already passes
 * through untouched; any other needs `sharp`, and without it is not ok, with the reason in words. Of an animation that has to
 * be made smaller the first frame stays.
 */
export async function fitImage(
  type: ImageType,
  bytes: Uint8Array,
  load: () => Promise<ResizeImage | undefined> = loadSharp,
): Promise<ImageFit> {
  const header = readImageHeader(type, bytes);
  if (header === undefined) return { ok: false, reason: "its header is damaged or cut short" };
  const original = seenSize(header);
  const { width, height } = original;
  if (header.orientation === 1 && width <= MAX_IMAGE_PIXELS && height <= MAX_IMAGE_PIXELS && base64Length(bytes) <= MAX_IMAGE_BASE64) {
    return { ok: true, original, image: { data: bytes, mimeType: `image/${type}`, width, height }, changed: false };
  }
  const resize = await load();
  if (resize === undefined)
    return {
      ok: false,
      original,
      reason: `${excess(header.orientation, bytes)}, and the package that could fit it (sharp) is not installed`,
    };
  try {
    for (const { side, quality, asJpeg } of ATTEMPTS) {
      const format = asJpeg ? "jpeg" : type === "gif" ? "png" : type;
      const resized = await resize(bytes, { maxWidth: side, maxHeight: side, format, quality });
      if (base64Length(resized.data) <= MAX_IMAGE_BASE64) {
        return { ok: true, original, image: { ...resized, mimeType: `image/${format}` }, changed: true };
      }
    }
    return { ok: false, original, reason: "no smaller version of it is small enough" };
  } catch (error) {
    return { ok: false, original, reason: `it could not be decoded: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function excess(orientation: number, bytes: Uint8Array): string {
  if (base64Length(bytes) > MAX_IMAGE_BASE64) return "it is more than 4.5 MiB in base64";
  return orientation === 1 ? "it is more than 2000 pixels wide or high" : "it is stored turned";
}

function base64Length(bytes: Uint8Array): number {
  return Math.ceil(bytes.length / 3) * 4;
}
