import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { firstBytes, firstCharacters, lastBytes, truncateHead, truncateTail } from "../../src/text/truncate.js";
import { hasLoneSurrogate } from "../../src/text/utf8.js";

const unit = fc.constantFrom("a", "é", "€", "\u{1f600}", "\u200d", "\u0301", "\n", "\n", "\r\n", " ");
const text = fc.array(unit, { maxLength: 60 }).map((units) => units.join(""));
const limits = fc.record({ maxLines: fc.integer({ min: 1, max: 8 }), maxBytes: fc.integer({ min: 4, max: 60 }) });

function linesOf(input: string): string[] {
  if (input === "") return [];
  return (input.endsWith("\n") ? input.slice(0, -1) : input).split("\n");
}

describe("truncateHead", () => {
  it("keeps everything that fits, without the final line feed", () => {
    expect(truncateHead("one\ntwo\n")).toEqual({
      text: "one\ntwo",
      shownLines: 2,
      totalLines: 2,
      shownBytes: 7,
      totalBytes: 7,
      partialLine: false,
    });
  });

  it("counts no line in nothing and one in a line feed alone", () => {
    expect(truncateHead("")).toMatchObject({ shownLines: 0, totalLines: 0 });
    expect(truncateHead("\n")).toMatchObject({ text: "", shownLines: 1, totalLines: 1 });
    expect(truncateHead("\n\n")).toMatchObject({ text: "\n", shownLines: 2, totalLines: 2 });
  });

  it("stops at 2,000 lines or 51,200 bytes, whichever comes first", () => {
    expect(truncateHead("x\n".repeat(2000))).not.toHaveProperty("by");
    expect(truncateHead("x\n".repeat(2001))).toMatchObject({ by: "lines", shownLines: 2000, totalLines: 2001 });
    expect(truncateHead("x".repeat(51_200))).not.toHaveProperty("by");
    expect(truncateHead(`${"x".repeat(51_199)}\ny`)).toMatchObject({ by: "bytes", shownLines: 1, shownBytes: 51_199 });
    expect(truncateHead("x".repeat(51_201))).toMatchObject({ by: "bytes", shownLines: 0, text: "" });
  });

  it("keeps the longest run of whole first lines within both limits (property)", () => {
    fc.assert(
      fc.property(text, limits, (input, { maxLines, maxBytes }) => {
        const lines = linesOf(input);
        let count = 0;
        while (count < lines.length && count < maxLines && Buffer.byteLength(lines.slice(0, count + 1).join("\n")) <= maxBytes) count += 1;
        const result = truncateHead(input, { maxLines, maxBytes });
        expect(result.text).toBe(lines.slice(0, count).join("\n"));
        expect(result).toMatchObject({ shownLines: count, totalLines: lines.length, partialLine: false });
        expect(result.shownBytes).toBe(Buffer.byteLength(result.text));
        expect(result.by === undefined).toBe(count === lines.length);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("truncateTail", () => {
  it("keeps the longest run of whole last lines, or the end of a last line that is too long (property)", () => {
    fc.assert(
      fc.property(text, limits, (input, { maxLines, maxBytes }) => {
        const lines = linesOf(input);
        let count = 0;
        while (count < lines.length && count < maxLines && Buffer.byteLength(lines.slice(-count - 1).join("\n")) <= maxBytes) count += 1;
        const result = truncateTail(input, { maxLines, maxBytes });
        expect(Buffer.byteLength(result.text)).toBe(result.shownBytes);
        expect(result.shownBytes).toBeLessThanOrEqual(maxBytes);
        expect(hasLoneSurrogate(result.text)).toBe(false);
        if (count === 0 && lines.length > 0) {
          expect(result.partialLine).toBe(true);
          expect(lines.at(-1)?.endsWith(result.text)).toBe(true);
          expect(result.shownBytes).toBeGreaterThan(maxBytes - 4);
        } else {
          expect(result.text).toBe(count === 0 ? "" : lines.slice(-count).join("\n"));
          expect(result).toMatchObject({ shownLines: count, totalLines: lines.length, partialLine: false });
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("C08 never breaks a code point at the cut", () => {
    const family = "👨‍👩‍👧‍👦".repeat(20);
    for (let maxBytes = 1; maxBytes < 60; maxBytes += 1) {
      for (const cut of [truncateTail(family, { maxBytes }).text, firstBytes(family, maxBytes), lastBytes(family, maxBytes)]) {
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(maxBytes);
        expect(hasLoneSurrogate(cut)).toBe(false);
        expect(cut).not.toContain("\ufffd");
        expect(family).toContain(cut);
      }
    }
  });
});

describe("firstBytes, lastBytes, firstCharacters", () => {
  it("are the longest parts that fit (property)", () => {
    fc.assert(
      fc.property(text, fc.nat(40), (input, most) => {
        const characters = [...input];
        let first = 0;
        while (first < characters.length && Buffer.byteLength(characters.slice(0, first + 1).join("")) <= most) first += 1;
        expect(firstBytes(input, most)).toBe(characters.slice(0, first).join(""));
        let last = 0;
        while (last < characters.length && Buffer.byteLength(characters.slice(-last - 1).join("")) <= most) last += 1;
        expect(lastBytes(input, most)).toBe(last === 0 ? "" : characters.slice(-last).join(""));
        expect(firstCharacters(input, most)).toBe(characters.slice(0, most).join(""));
      }),
      { numRuns: 1000 },
    );
  });
});
