import type { ImageType } from "./magic.js";

export interface ImageHeader {
  /** As stored, before any turning. */
  readonly width: number;
  readonly height: number;
  /** EXIF orientation, 1 to 8; 1 when there is none. 5 to 8 swap width and height. */
  readonly orientation: number;
}

/** Reads size and orientation out of an image's own headers, without decoding it. Undefined when they are not there or broken. */
export function readImageHeader(type: ImageType, bytes: Uint8Array): ImageHeader | undefined {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const header = READERS[type](data);
    return header !== undefined && header.width > 0 && header.height > 0 ? header : undefined;
  } catch (error) {
    // Reading past the end: the file is cut short.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Width and height as they are to be seen. */
export function seenSize({ width, height, orientation }: ImageHeader): { readonly width: number; readonly height: number } {
  return orientation >= 5 ? { width: height, height: width } : { width, height };
}

const READERS: Readonly<Record<ImageType, (data: Buffer) => ImageHeader | undefined>> = { png, jpeg, gif, webp };

function png(data: Buffer): ImageHeader {
  const size = { width: data.readUInt32BE(16), height: data.readUInt32BE(20) };
  let orientation = 1;
  for (let at = 8; at + 12 <= data.length; ) {
    const length = data.readUInt32BE(at);
    const type = data.toString("latin1", at + 4, at + 8);
    if (type === "eXIf") orientation = orientationOf(data.subarray(at + 8, at + 8 + length));
    if (type === "IEND") break;
    at += 12 + length;
  }
  return { ...size, orientation };
}

function gif(data: Buffer): ImageHeader {
  return { width: data.readUInt16LE(6), height: data.readUInt16LE(8), orientation: 1 };
}

function jpeg(data: Buffer): ImageHeader | undefined {
  let orientation = 1;
  for (let at = 2; at + 4 <= data.length; ) {
    if (data[at] !== 0xff) return undefined;
    const marker = data.readUInt8(at + 1);
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const length = data.readUInt16BE(at + 2);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) return { height: data.readUInt16BE(at + 5), width: data.readUInt16BE(at + 7), orientation };
    if (marker === 0xe1 && data.toString("latin1", at + 4, at + 10) === "Exif\0\0") {
      orientation = orientationOf(data.subarray(at + 10, at + 2 + length));
    }
    at += 2 + length;
  }
  return undefined;
}

function webp(data: Buffer): ImageHeader | undefined {
  const type = data.toString("latin1", 12, 16);
  if (type === "VP8 ") return { width: data.readUInt16LE(26) & 0x3fff, height: data.readUInt16LE(28) & 0x3fff, orientation: 1 };
  if (type === "VP8L") {
    const bits = data.readUInt32LE(21);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1, orientation: 1 };
  }
  if (type !== "VP8X") return undefined;
  let orientation = 1;
  for (let at = 12; at + 8 <= data.length; ) {
    const length = data.readUInt32LE(at + 4);
    if (data.toString("latin1", at, at + 4) === "EXIF") orientation = orientationOf(data.subarray(at + 8, at + 8 + length));
    at += 8 + length + (length % 2);
  }
  return { width: data.readUIntLE(24, 3) + 1, height: data.readUIntLE(27, 3) + 1, orientation };
}

/** The orientation tag (0x0112) of the first directory of a TIFF block. 1 when it is not there or makes no sense. */
function orientationOf(block: Buffer): number {
  const tiff = block.toString("latin1", 0, 6) === "Exif\0\0" ? block.subarray(6) : block;
  if (tiff.length < 8) return 1;
  const order = tiff.toString("latin1", 0, 2);
  if (order !== "II" && order !== "MM") return 1;
  const read16 = (at: number): number => (order === "II" ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const directory = order === "II" ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  if (directory + 2 > tiff.length) return 1;
  const entries = read16(directory);
  for (let index = 0; index < entries; index += 1) {
    const at = directory + 2 + index * 12;
    if (at + 12 > tiff.length) return 1;
    if (read16(at) !== 0x0112) continue;
    const value = read16(at + 8);
    return value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
}
