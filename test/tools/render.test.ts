import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GloveboxError } from "../../src/contract/errors.js";
import { errorResult, textResult } from "../../src/contract/tool-result.js";
import { callLine, showDiff, showResult } from "../../src/tools/render.js";

const plain = { ansi: false };

describe("rendering", () => {
  it("T9 lets nothing of the content steer a terminal (property)", () => {
    const dangerous = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Surrogate}]/u;
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        for (const shown of [callLine("read", text, plain), showResult(textResult(text), plain, "head"), showDiff(text, plain)]) {
          expect(dangerous.test(shown.replace(/[\n\t]/g, ""))).toBe(false);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it("shows errors in red, images as a word, a call without a subject by its name", () => {
    expect(showResult(errorResult(new GloveboxError("gone", "It is\ngone.")), { ansi: true }, "head")).toBe(
      "\x1b[31mIt is\x1b[39m\n\x1b[31mgone.\x1b[39m",
    );
    const image = { content: [{ type: "image", data: "QUJD", mimeType: "image/png" }], isError: false } as const;
    expect(showResult(image, plain, "head")).toBe("[image: image/png, 3 bytes]");
    expect(callLine("ls", "", { ansi: true })).toBe("\x1b[1mls\x1b[22m");
  });

  it("shortens from the end that the tool cuts, and not for one line", () => {
    const text = (count: number): string => Array.from({ length: count }, (_, index) => index + 1).join("\n");
    expect(showResult(textResult(text(21)), plain, "head")).toBe(text(21));
    expect(showResult(textResult(text(22)), plain, "head")).toBe(`${text(20)}\n... 2 more lines`);
    expect(showResult(textResult(text(22)), plain, "tail")).toBe(`... 2 more lines before\n${text(22).split("\n").slice(2).join("\n")}`);
  });
});
