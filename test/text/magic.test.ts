import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { detectType } from "../../src/text/magic.js";

const bytes = (latin1: string): Uint8Array => Buffer.from(latin1, "latin1");

describe("detectType", () => {
  it("C07 tells images by their first bytes", () => {
    expect(detectType(bytes("\x89PNG\r\n\x1a\n\0\0\0\rIHDR"))).toEqual({ kind: "image", type: "png", mimeType: "image/png" });
    expect(detectType(bytes("\xff\xd8\xff\xe0\0\x10JFIF"))).toEqual({ kind: "image", type: "jpeg", mimeType: "image/jpeg" });
    expect(detectType(bytes("GIF89a\x01\0"))).toEqual({ kind: "image", type: "gif", mimeType: "image/gif" });
    expect(detectType(bytes("RIFF\x10\0\0\0WEBPVP8 "))).toEqual({ kind: "image", type: "webp", mimeType: "image/webp" });
  });

  it("C07 tells binary files, with what they are", () => {
    const name = (head: Uint8Array) => detectType(head);
    expect(name(bytes("%PDF-1.7\n"))).toEqual({ kind: "binary", name: "PDF document" });
    expect(name(gzipSync("x"))).toEqual({ kind: "binary", name: "gzip archive" });
    expect(name(bytes("\x7fELF\x02\x01\x01"))).toEqual({ kind: "binary", name: "ELF executable or library" });
    expect(name(bytes("PK\x03\x04"))).toEqual({ kind: "binary", name: "zip archive" });
    expect(name(bytes("text with a \0 in it"))).toEqual({ kind: "binary", name: "data with NUL bytes" });
  });

  it("C05 tells UTF-16 and UTF-32 by their byte order marks, and UTF-8 with one as text", () => {
    expect(detectType(bytes("\xff\xfea\0"))).toEqual({ kind: "binary", name: "UTF-16LE text", encoding: "UTF-16LE" });
    expect(detectType(bytes("\xfe\xff\0a"))).toEqual({ kind: "binary", name: "UTF-16BE text", encoding: "UTF-16BE" });
    expect(detectType(bytes("\xff\xfe\0\0a\0\0\0"))).toEqual({ kind: "binary", name: "UTF-32LE text", encoding: "UTF-32LE" });
    expect(detectType(bytes("\0\0\xfe\xff\0\0\0a"))).toEqual({ kind: "binary", name: "UTF-32BE text", encoding: "UTF-32BE" });
    expect(detectType(bytes("\xef\xbb\xbftext"))).toEqual({ kind: "text" });
  });

  it("takes everything else for text, and looks at the first 8 KiB only", () => {
    for (const text of ["", "a", "caf\xe9", "\xff\xfd", "GIF", "RIFF....WAVE", "BZh is a name", "\x1f"]) {
      expect(detectType(bytes(text))).toEqual({ kind: "text" });
    }
    expect(detectType(bytes(`${"x".repeat(8192)}\0`))).toEqual({ kind: "text" });
    expect(detectType(bytes(`${"x".repeat(8191)}\0`))).toMatchObject({ kind: "binary" });
  });
});
