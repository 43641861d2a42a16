import { describe, expect, it } from "vitest";
import { paint } from "../../src/text/ansi.js";
import { formatCount, formatList, formatNumber } from "../../src/text/format.js";

describe("format and paint", () => {
  it("puts numbers, counts and lists in words", () => {
    expect(formatNumber(1_234_567)).toBe("1,234,567");
    expect([formatCount(1, "line"), formatCount(0, "line"), formatCount(2000, "entry", "entries")]).toEqual([
      "1 line",
      "0 lines",
      "2,000 entries",
    ]);
    expect([formatList([]), formatList(["a"]), formatList(["a", "b"]), formatList(["a", "b", "c"])]).toEqual([
      "",
      "a",
      "a and b",
      "a, b and c",
    ]);
  });

  it("colours each line by itself, only where asked", () => {
    expect(paint("a\n\nb", "red", true)).toBe("\x1b[31ma\x1b[39m\n\n\x1b[31mb\x1b[39m");
    expect(paint("a", "red", false)).toBe("a");
  });
});
