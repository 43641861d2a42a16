import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planEdits } from "../../src/text/edits.js";
import { fold, foldWithOrigins } from "../../src/text/fold.js";
import { createFuzzyFinder } from "../../src/text/fuzzy-match.js";

const plainLine = fc
  .string({ unit: fc.constantFrom("a", "b", "'", '"', "-", " ", "."), minLength: 1, maxLength: 8 })
  .map((text) => `${text}x`);

/** The same text as another hand would have typed it. */
function retyped(text: string, choose: () => number): string {
  const pick = (options: string): string => options.charAt(choose() % options.length);
  return text.replace(/['"\- ]|\n/g, (character) => {
    if (character === "'") return pick("'‘’‚‛");
    if (character === '"') return pick('"“”„‟');
    if (character === "-") return pick("-‐‑‒–—−");
    if (character === " ") return pick(" \u00a0\u2009\u202f\u3000");
    return ["", "  ", "\t", "\u00a0"][choose() % 4] + (["\n", "\r\n", "\r"][choose() % 3] ?? "\n");
  });
}

describe("createFuzzyFinder", () => {
  it("C17 finds a text that was retyped, and exactly its range (property)", () => {
    const choices = fc.infiniteStream(fc.nat(1000));
    fc.assert(
      fc.property(fc.array(plainLine, { minLength: 1, maxLength: 4 }), choices, choices, (lines, one, other) => {
        const wanted = `<${lines.join("\n")}>`;
        const typed = retyped(wanted, () => one.next().value);
        const before = retyped("some - 'text'\n", () => other.next().value);
        const content = `${before}${typed} tail\n`;
        const { count, matches } = createFuzzyFinder(content)(wanted);
        expect(count).toBe(1);
        expect(matches).toHaveLength(1);
        expect(content.slice(matches[0]?.start, matches[0]?.end)).toBe(typed);
      }),
      { numRuns: 2000 },
    );
  });

  it("names only what had to be overlooked", () => {
    const folds = (content: string, needle: string) => createFuzzyFinder(content)(needle).matches[0]?.folds;
    expect(folds("it’s", "it's")).toEqual(["quotes"]);
    expect(folds("a – b", "a - b")).toEqual(["dashes"]);
    expect(folds("a\u00a0b", "a b")).toEqual(["spaces"]);
    expect(folds("a\r\nb", "a\nb")).toEqual(["line endings"]);
    expect(folds("a  \nb", "a\nb")).toEqual(["trailing blanks"]);
    expect(folds("“a”\t\r\nb—c", '"a"\nb-c')).toEqual(["line endings", "trailing blanks", "quotes", "dashes"]);
  });

  it("takes blanks at the end of what is wanted for blanks, or for the end of a line", () => {
    const ranges = (content: string, needle: string) =>
      createFuzzyFinder(content)(needle).matches.map(({ start, end }) => content.slice(start, end));
    expect(ranges("return;\nreturn x", "return ")).toEqual(["return "]);
    expect(ranges("‘a’   \nb", "'a' ")).toEqual(["‘a’   "]);
    expect(ranges("‘a’", "'a' ")).toEqual(["‘a’"]);
    expect(ranges("‘a’b", "'a' ")).toEqual([]);
  });

  it("leaves blanks around the range alone", () => {
    const plan = planEdits("x  \r\n‘a’  \r\ny", [{ oldText: "\n'a'", newText: "\nb" }]);
    expect(plan).toMatchObject({ ok: true, text: "x  \r\nb  \r\ny" });
  });

  it("is refused when it is not unique", () => {
    expect(planEdits("‘a’\n’a‘\n", [{ oldText: "'a'", newText: "b" }])).toEqual({
      ok: false,
      problems: [{ kind: "several", edit: 0, count: 2, lines: [1, 2], exact: false }],
    });
  });
});

describe("fold", () => {
  it("is the same as folding line by line, and knows where everything stood (property)", () => {
    const unit = fc.constantFrom("a", " ", "\t", "\u00a0", "\r", "\n", "’", "“", "—", "\u{1f600}", "\udc80");
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 30 }), (text) => {
        const expected = text
          .split(/\r\n|\n|\r/)
          .map((line) =>
            line
              .replace(/[ \t\u00a0]+$/, "")
              .replace(/\u00a0/g, " ")
              .replace(/’/g, "'")
              .replace(/“/g, '"')
              .replace(/—/g, "-"),
          )
          .join("\n");
        const folded = foldWithOrigins(text);
        expect(folded.text).toBe(expected);
        expect(fold(folded.text)).toBe(folded.text);
        expect(folded.origins).toHaveLength(folded.text.length);
        for (const [index, origin] of folded.origins.entries()) {
          expect(fold(text.charAt(origin), { keepEnd: true })).toBe(folded.text.charAt(index));
          expect(origin).toBeGreaterThan(folded.origins[index - 1] ?? -1);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
