import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeLossless, decodeText, encodeLossless, hasLoneSurrogate, sequenceLength, showLossless } from "../../src/text/utf8.js";

/** Bytes that are often nearly UTF-8. */
const nearlyUtf8 = fc
  .array(
    fc.oneof(
      fc.constantFrom("a", "\n", "\r\n", "é", "€", "\u{1f600}", "\ufeff").map((character) => [...Buffer.from(character)]),
      fc.constantFrom(
        [0x80],
        [0xbf],
        [0xc0, 0xaf],
        [0xc3],
        [0xe2, 0x82],
        [0xed, 0xa0, 0x80],
        [0xf0, 0x9f, 0x98],
        [0xf4, 0x90, 0x80, 0x80],
        [0xff],
      ),
      fc.integer({ min: 0, max: 255 }).map((byte) => [byte]),
    ),
    { maxLength: 40 },
  )
  .map((parts) => Uint8Array.from(parts.flat()));

describe("decodeText", () => {
  it("agrees with the platform's decoder and says what is not UTF-8 (property)", () => {
    fc.assert(
      fc.property(nearlyUtf8, (bytes) => {
        const { text, invalid } = decodeText(bytes);
        expect(text).toBe(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
        expect(invalid).toBe(throws(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes)));
      }),
      { numRuns: 2000 },
    );
  });
});

describe("decodeLossless and encodeLossless", () => {
  it("give any bytes back (property)", () => {
    fc.assert(
      fc.property(fc.oneof(nearlyUtf8, fc.uint8Array({ maxLength: 60 })), (bytes) => {
        expect(Buffer.from(encodeLossless(decodeLossless(bytes).text)).equals(Buffer.from(bytes))).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  it("are plain UTF-8 for what is UTF-8 (property)", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        fc.pre(!hasLoneSurrogate(text));
        expect(decodeLossless(Buffer.from(text))).toEqual({ text, invalid: false });
        expect(Buffer.from(encodeLossless(text)).toString()).toBe(text);
      }),
      { numRuns: 1000 },
    );
  });

  it("keep bytes apart when text is put between them", () => {
    const { text } = decodeLossless(Uint8Array.of(0xe2, 0x82));
    const edited = `${text.slice(0, 1)}x${text.slice(1)}`;
    expect([...encodeLossless(edited)]).toEqual([0xe2, 0x78, 0x82]);
  });

  it("show each byte that is no UTF-8 as U+FFFD", () => {
    expect(showLossless(decodeLossless(Uint8Array.of(0x61, 0xff, 0x62, 0xe9)).text)).toBe("a\ufffdb\ufffd");
    expect(showLossless("plain \u{1f600}")).toBe("plain \u{1f600}");
  });
});

describe("sequenceLength", () => {
  it("is the length of a valid sequence, and 0 for every other start (property)", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 6 }), (bytes) => {
        const length = sequenceLength(bytes, 0);
        const valid = [1, 2, 3, 4].find((size) => size <= bytes.length && [...(fatal(bytes.subarray(0, size)) ?? "ab")].length === 1);
        expect(length).toBe(valid ?? 0);
      }),
      { numRuns: 5000 },
    );
  });
});

function fatal(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function throws(action: () => unknown): boolean {
  try {
    action();
    return false;
  } catch {
    return true;
  }
}
