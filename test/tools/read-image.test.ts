import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { bindTool } from "../../src/contract/tool.js";
import { fitImage } from "../../src/tools/fit-image.js";
import { readTool } from "../../src/tools/read.js";
import { describeImage } from "../../src/tools/read-image.js";
import { call, openMemory } from "./support.js";

/** Left half red, right half blue, so that a turn is seen. */
async function picture(
  width: number,
  height: number,
  format: "png" | "jpeg" | "webp" | "gif" = "png",
  orientation?: number,
): Promise<Buffer> {
  const half = Math.floor(width / 2);
  const blue = await sharp({ create: { width: width - half, height, channels: 3, background: "#0000ff" } })
    .png()
    .toBuffer();
  let pipeline = sharp({ create: { width, height, channels: 3, background: "#ff0000" } }).composite([{ input: blue, left: half, top: 0 }]);
  if (orientation !== undefined) pipeline = pipeline.withMetadata({ orientation });
  return await pipeline.toFormat(format).toBuffer();
}

async function noise(width: number, height: number): Promise<Buffer> {
  return await sharp({ create: { width, height, channels: 3, background: "#000", noise: { type: "gaussian", mean: 128, sigma: 80 } } })
    .png()
    .toBuffer();
}

async function read(data: Uint8Array, name: string) {
  const environment = await openMemory({ files: { [name]: data } });
  const called = await call(bindTool(readTool, environment), { path: name });
  const image = called.result.content.find(({ type }) => type === "image");
  return { ...called, image, verbs: environment.calls.map(({ verb }) => verb) };
}

describe("read, images", () => {
  it("C07 passes one that fits through untouched, by its bytes and not its name", async () => {
    const data = await picture(300, 200);
    const { text, image, details, verbs, isError } = await read(data, "shot.txt");
    expect(text).toBe(`shot.txt is an image (PNG, 300×200, ${data.length.toLocaleString("en-US")} bytes).\n<image/png>`);
    expect(image).toEqual({ type: "image", data: data.toString("base64"), mimeType: "image/png" });
    expect(isError).toBe(false);
    expect(details).toEqual({
      path: "shot.txt",
      canonicalPath: "/workspace/shot.txt",
      bytes: data.length,
      kind: "image",
      type: "png",
      size: { width: 300, height: 200 },
      shownSize: { width: 300, height: 200 },
    });
    expect(verbs).toEqual(["readFile", "readFile"]);
  });

  it.each(["png", "jpeg", "webp", "gif"] as const)("makes a large %s fit 2000×2000", async (format) => {
    const data = await picture(3000, 1500, format);
    const { text, image } = await read(data, "a");
    const shown = format === "gif" ? "png" : format;
    const frame = format === "gif" ? " of its first frame" : "";
    expect(text).toBe(
      `a is an image (${format.toUpperCase()}, 3000×1500, ${data.length.toLocaleString("en-US")} bytes). It is shown as a 2000×1000 ${shown.toUpperCase()}${frame}.\n<image/${shown}>`,
    );
    if (image?.type !== "image") throw new Error("no image");
    expect(await sharp(Buffer.from(image.data, "base64")).metadata()).toMatchObject({ format: shown, width: 2000, height: 1000 });
  });

  it("applies the EXIF orientation", async () => {
    const data = await picture(300, 200, "jpeg", 6);
    const { text, image, details } = await read(data, "a");
    expect(text).toContain("(JPEG, 200×300,");
    expect(details).toMatchObject({ size: { width: 200, height: 300 }, shownSize: { width: 200, height: 300 } });
    if (image?.type !== "image") throw new Error("no image");
    const turned = sharp(Buffer.from(image.data, "base64"));
    expect((await turned.metadata()).orientation ?? 1).toBe(1);
    const { data: pixels, info } = await turned.raw().toBuffer({ resolveWithObject: true });
    const at = (x: number, y: number): string => ((pixels[(y * info.width + x) * info.channels] ?? 0) > 128 ? "red" : "blue");
    // Turned right, the left half is on top.
    expect([at(100, 50), at(100, 250)]).toEqual(["red", "blue"]);
  });

  it("makes one of too many bytes fit, as a JPEG in the end", async () => {
    const data = await noise(1900, 1900);
    expect(data.length).toBeGreaterThan(4.5 * 1024 * 1024);
    const { image } = await read(data, "a");
    if (image?.type !== "image") throw new Error("no image");
    expect(image.mimeType).toBe("image/jpeg");
    expect(image.data.length).toBeLessThanOrEqual(4.5 * 1024 * 1024);
  });

  it("describes one that is damaged", async () => {
    const cut = await read((await picture(300, 200)).subarray(0, 20), "a.png");
    expect(cut.text).toBe(
      "a.png is an image (PNG, 20 bytes) that cannot be shown: its header is damaged or cut short. Make a smaller PNG or JPEG of it with bash (convert, ffmpeg, python) and read that.",
    );
    expect(cut.isError).toBe(false);
    const broken = await picture(3000, 100);
    const { text, image } = await read(broken.subarray(0, 60), "a.png");
    expect(text).toMatch(
      /^a\.png is an image \(PNG, 3000×100, 60 bytes\) that cannot be shown: it could not be decoded: .+\. Make a smaller/,
    );
    expect(image).toBeUndefined();
  });

  it("names the path that was used", async () => {
    const environment = await openMemory({ files: { a: await picture(3, 2) } });
    expect((await call(bindTool(readTool, environment), { path: "@a" })).text).toMatch(
      /\n\n\[@a does not exist; a was used\.\]\n<image\/png>$/,
    );
  });
});

describe("fitImage without sharp", () => {
  const none = async (): Promise<undefined> => undefined;
  const file = { path: "a.png", canonicalPath: "/a.png", bytes: 1234 };

  it("still passes what fits through", async () => {
    expect(await fitImage("png", await picture(20, 10), none)).toMatchObject({ ok: true, changed: false });
  });

  it("says why it cannot be shown", async () => {
    const wide = await fitImage("png", await picture(2001, 10), none);
    expect(describeImage("png", file, wide, "").content).toEqual([
      {
        type: "text",
        text: "a.png is an image (PNG, 2001×10, 1,234 bytes) that cannot be shown: it is more than 2000 pixels wide or high, and the package that could fit it (sharp) is not installed. Make a smaller PNG or JPEG of it with bash (convert, ffmpeg, python) and read that.",
      },
    ]);
    expect(await fitImage("jpeg", await picture(20, 10, "jpeg", 8), none)).toMatchObject({
      ok: false,
      original: { width: 10, height: 20 },
      reason: "it is stored turned, and the package that could fit it (sharp) is not installed",
    });
    expect(await fitImage("png", Buffer.concat([await picture(20, 10), Buffer.alloc(4 * 1024 * 1024)]), none)).toMatchObject({
      reason: "it is more than 4.5 MiB in base64, and the package that could fit it (sharp) is not installed",
    });
  });

  it("gives up when no version is small enough", async () => {
    const large = async () => async () => ({ data: new Uint8Array(5 * 1024 * 1024), width: 1, height: 1 });
    expect(await fitImage("png", await picture(2001, 10), large)).toMatchObject({
      ok: false,
      reason: "no smaller version of it is small enough",
    });
  });

  it("does not fetch what is more than 32 MiB", async () => {
    const header = await picture(20, 10);
    const readFile = async (_: string, options?: object) => {
      if (options === undefined || !("lines" in options)) throw new Error("fetched whole");
      return { data: header, head: header, size: 40 * 1024 * 1024, canonicalPath: "/a", totalLines: 1 };
    };
    expect((await call(bindTool(readTool, { readFile }), { path: "a" })).text).toBe(
      "a is an image (PNG, 41,943,040 bytes) that cannot be shown: it is more than 32 MiB. Make a smaller PNG or JPEG of it with bash (convert, ffmpeg, python) and read that.",
    );
  });

  it("says when it changed while it was read", async () => {
    const image = await picture(20, 10);
    const readFile = async (_: string, options?: object) => {
      const data = options !== undefined && "lines" in options ? image : Buffer.from("text now");
      return { data, head: data, size: data.length, canonicalPath: "/a", totalLines: 1 };
    };
    expect((await call(bindTool(readTool, { readFile }), { path: "a" })).text).toBe(
      "a is an image (PNG, 8 bytes) that cannot be shown: it changed while it was read. Make a smaller PNG or JPEG of it with bash (convert, ffmpeg, python) and read that.",
    );
  });
});
