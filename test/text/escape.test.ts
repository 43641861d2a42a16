import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { escapeControls, escapeLine, jsonQuote, quoteName } from "../../src/text/escape.js";

const DANGEROUS = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Surrogate}]/u;
const name = fc.string({
  unit: fc.constantFrom("a", " ", '"', "\\", "\n", "\r", "\x1b", "\x7f", "\x85", "\u202e", "\u2028", "é", "\u{1f600}", "\ud800", "u", "0"),
});

describe("escapeControls", () => {
  it("P07 leaves nothing that moves, recolours or reorders (property)", () => {
    fc.assert(
      fc.property(fc.oneof(name, fc.string({ unit: "binary" })), (text) => {
        expect(DANGEROUS.test(escapeControls(text).replace(/[\n\t]/g, ""))).toBe(false);
        expect(DANGEROUS.test(escapeLine(text))).toBe(false);
      }),
      { numRuns: 2000 },
    );
  });

  it("writes out what it takes away, and leaves the rest", () => {
    expect(escapeControls("a\tb\r\nc\rd\x1b[31m\x07\u202e\u2028\u0085é😀\ud800")).toBe(
      "a\tb\nc\\rd\\x1b[31m\\x07\\u202e\\u2028\\x85é😀\\ud800",
    );
    expect(escapeLine("a\tb\nc\0")).toBe("a\\tb\\nc\\x00");
  });
});

describe("quoteName", () => {
  it("P06 is one line from which the name can be had again (property)", () => {
    fc.assert(
      fc.property(name, (text) => {
        const quoted = quoteName(text);
        expect(DANGEROUS.test(quoted)).toBe(false);
        expect(quoted.startsWith('"') ? JSON.parse(quoted) : quoted).toBe(text);
      }),
      { numRuns: 2000 },
    );
  });

  it("P06 P07 P10 quotes only what needs it", () => {
    for (const plain of ["a", "it's", "a b", "-n", "$(id)", "*", "C:\\x", "é", "__proto__"]) expect(quoteName(plain)).toBe(plain);
    expect(["", " a", "a ", '"q"', "a\nb", "f\n", "\x1b[31m", "a\u202eb"].map((each) => quoteName(each))).toEqual([
      '""',
      '" a"',
      '"a "',
      '"\\"q\\""',
      '"a\\nb"',
      '"f\\n"',
      '"\\u001b[31m"',
      '"a\\u202eb"',
    ]);
    expect(quoteName("a -> b", / -> /)).toBe('"a -> b"');
    expect(jsonQuote("\u2028")).toBe('"\\u2028"');
  });
});
