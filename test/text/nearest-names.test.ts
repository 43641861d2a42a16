import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nearestNames } from "../../src/text/nearest-names.js";

describe("nearestNames", () => {
  it("finds other case, other spaces, other Unicode form, other extension, typing errors, parts", () => {
    expect(nearestNames("readme.md", ["src", "README.md", "other"])).toEqual(["README.md"]);
    expect(nearestNames("Screenshot at 1.00 PM.png", ["Screenshot at 1.00\u202fPM.png"])).toEqual(["Screenshot at 1.00\u202fPM.png"]);
    expect(nearestNames("caf\u00e9", ["cafe\u0301"])).toEqual(["cafe\u0301"]);
    expect(nearestNames("index.js", ["index.ts", "a.js"])).toEqual(["index.ts"]);
    expect(nearestNames("cofnig.json", ["package.json", "config.json"])).toEqual(["config.json"]);
    expect(nearestNames("button", ["button.test.tsx", "x"])).toEqual(["button.test.tsx"]);
    expect(nearestNames("zzz", ["a", "b"])).toEqual([]);
  });

  it("gives the nearest first, five at most", () => {
    expect(nearestNames("abc.ts", ["zzz", "abd.ts", "ABC.ts", "abc.ts.orig"])).toEqual(["ABC.ts", "abd.ts", "abc.ts.orig"]);
    expect(
      nearestNames(
        "file1",
        Array.from({ length: 20 }, (_, index) => `file${index + 10}`),
      ),
    ).toHaveLength(5);
  });

  it("always finds the name itself, first (property)", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ minLength: 1 }), { minLength: 1 }), fc.nat(), (names, index) => {
        const wanted = names[index % names.length] ?? "";
        const normal = (text: string): string => text.normalize("NFC").toLowerCase();
        expect(normal(nearestNames(wanted, names)[0] ?? "")).toBe(normal(wanted));
      }),
      { numRuns: 1000 },
    );
  });
});
