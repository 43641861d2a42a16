import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findOccurrences } from "../../src/text/occurrences.js";

describe("findOccurrences", () => {
  it("counts overlapping ones", () => {
    expect(findOccurrences("aaa", "aa")).toEqual({ count: 2, starts: [0, 1] });
    expect(findOccurrences("abababa", "aba")).toEqual({ count: 3, starts: [0, 2, 4] });
    expect(findOccurrences("abc", "")).toEqual({ count: 0, starts: [] });
  });

  it("finds what a search from every place finds (property)", () => {
    const small = fc.string({ unit: fc.constantFrom("a", "b", "\u{1f600}"), maxLength: 30 });
    fc.assert(
      fc.property(
        small,
        small.filter((needle) => needle !== ""),
        fc.nat(5),
        (haystack, needle, keep) => {
          const all = Array.from({ length: haystack.length }, (_, at) => at).filter((at) => haystack.startsWith(needle, at));
          expect(findOccurrences(haystack, needle, keep)).toEqual({ count: all.length, starts: all.slice(0, keep) });
        },
      ),
      { numRuns: 3000 },
    );
  });

  it("takes no longer when the texts are built to make a search slow", () => {
    const needle = `${"a".repeat(100_000)}b${"a".repeat(100_000)}`;
    expect(findOccurrences("a".repeat(4_000_000), needle)).toEqual({ count: 0, starts: [] });
  });
});
