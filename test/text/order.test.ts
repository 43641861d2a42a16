import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareCodePoints, compareNames } from "../../src/text/order.js";

describe("order", () => {
  it("is by code point, not by UTF-16 unit (property)", () => {
    const byBytes = (one: string, other: string): number => Math.sign(Buffer.compare(Buffer.from(one), Buffer.from(other)));
    const unit = fc.constantFrom("a", "B", "é", "\uff5e", "\u{1f600}", "\u{1f601}", "-");
    fc.assert(
      fc.property(fc.string({ unit }), fc.string({ unit }), (one, other) => {
        expect(Math.sign(compareCodePoints(one, other))).toBe(byBytes(one, other));
      }),
      { numRuns: 2000 },
    );
  });

  it("folds case, and then tells names apart by code point", () => {
    expect(["b", "B", "a", "_", "A", ".x", "Z", "é", "a1"].toSorted(compareNames)).toEqual([".x", "_", "A", "a", "a1", "B", "b", "Z", "é"]);
  });
});
