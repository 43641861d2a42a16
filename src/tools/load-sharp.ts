/** The part of the optional package `sharp` that is used: fits an image into a box, turned as its EXIF orientation says. */
export type ResizeImage = (image: Uint8Array, request: ResizeRequest) => Promise<ResizedImage>;

export interface ResizeRequest {
  readonly maxWidth: number;
  readonly maxHeight: number;
  readonly format: "png" | "jpeg" | "webp";
  /** 1 to 100; for jpeg and webp. */
  readonly quality: number;
}

export interface ResizedImage {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/** Decoding more would take hundreds of megabytes: a small file can claim to be a huge picture. */
const MAX_DECODED_PIXELS = 64_000_000;
const MAX_SECONDS = 20;

/** Loads `sharp` if it is installed. */
export async function loadSharp(): Promise<ResizeImage | undefined> {
  const loaded = await import("sharp").catch(() => undefined);
  if (loaded === undefined) return undefined;
  const sharp = loaded.default;
  return async (image, { maxWidth, maxHeight, format, quality }) => {
    const pipeline = sharp(image, { limitInputPixels: MAX_DECODED_PIXELS, sequentialRead: true })
      .timeout({ seconds: MAX_SECONDS })
      .autoOrient()
      .resize({ width: maxWidth, height: maxHeight, fit: "inside", withoutEnlargement: true });
    const encoded =
      format === "png"
        ? pipeline.png()
        : format === "webp"
          ? pipeline.webp({ quality })
          : pipeline.flatten({ background: "#ffffff" }).jpeg({ quality });
    const { data, info } = await encoded.toBuffer({ resolveWithObject: true });
    return { data, width: info.width, height: info.height };
  };
}
