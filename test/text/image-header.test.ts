import fc from "fast-check";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { readImageHeader, seenSize } from "../../src/text/image-header.js";
import { detectType, type ImageType } from "../../src/text/magic.js";

type Format = "png" | "jpeg" | "gif" | "webp";

async function image(
  format: Format,
  width: number,
  height: number,
  options: { orientation?: number; lossless?: boolean } = {},
): Promise<Buffer> {
  let pipeline = sharp({ create: { width, height, channels: 3, background: "#336699" } });
  if (options.orientation !== undefined) pipeline = pipeline.withMetadata({ orientation: options.orientation });
  return await (format === "webp" ? pipeline.webp({ lossless: options.lossless ?? false }) : pipeline.toFormat(format)).toBuffer();
}

describe("readImageHeader", () => {
  it.each<Format>(["png", "jpeg", "gif", "webp"])("reads the size of a %s", async (format) => {
    for (const [width, height] of [
      [1, 1],
      [640, 481],
      [2001, 3],
    ] as const) {
      const data = await image(format, width, height);
      expect(detectType(data)).toMatchObject({ kind: "image", type: format });
      expect(readImageHeader(format, data)).toEqual({ width, height, orientation: 1 });
    }
  });

  it("reads the size of a lossless webp", async () => {
    expect(readImageHeader("webp", await image("webp", 300, 200, { lossless: true }))).toEqual({ width: 300, height: 200, orientation: 1 });
  });

  it.each<Format>(["png", "jpeg", "webp"])("reads the EXIF orientation of a %s", async (format) => {
    for (const orientation of [1, 3, 6, 8]) {
      const header = readImageHeader(format, await image(format, 30, 20, { orientation }));
      expect(header).toEqual({ width: 30, height: 20, orientation });
    }
    expect(seenSize({ width: 30, height: 20, orientation: 6 })).toEqual({ width: 20, height: 30 });
    expect(seenSize({ width: 30, height: 20, orientation: 3 })).toEqual({ width: 30, height: 20 });
  });

  it("gives nothing for a header that is cut short or broken, and never throws (property)", async () => {
    const images = await Promise.all(
      (["png", "jpeg", "gif", "webp"] as const).map(async (type) => ({ type, data: await image(type, 9, 7, { orientation: 6 }) })),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...images),
        fc.nat(80),
        fc.array(fc.tuple(fc.nat(120), fc.nat(255)), { maxLength: 6 }),
        ({ type, data }, length, noise) => {
          const broken = Buffer.from(data.subarray(0, length));
          for (const [at, byte] of noise) if (at < broken.length) broken[at] = byte;
          const header = readImageHeader(type as ImageType, broken);
          if (header !== undefined)
            expect(header.width > 0 && header.height > 0 && header.orientation >= 1 && header.orientation <= 8).toBe(true);
        },
      ),
      { numRuns: 2000 },
    );
    expect(readImageHeader("png", Buffer.from("\x89PNG\r\n\x1a\n", "latin1"))).toBeUndefined();
    expect(readImageHeader("jpeg", Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2]))).toBeUndefined();
  });
});
