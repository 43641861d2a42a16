import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sliceLines } from "../../../adapters/posix/slices.js";

/** What the contract says, written down naively. */
function naive(content: string, start: number, count: number, maxBytes: number) {
  const lines = content.split(/(?<=\n)/).filter((line) => line !== "");
  const wanted = lines.slice(start - 1, start - 1 + count).join("");
  const first = (lines[start - 1] ?? "").replace(/\n$/, "");
  return {
    data: wanted.slice(0, maxBytes),
    totalLines: lines.length,
    head: content.slice(0, 8192),
    ...(first.length > maxBytes ? { firstLineBytes: first.length } : {}),
  };
}

describe("sliceLines", () => {
  it("is what the contract says", () => {
    const content = fc.array(fc.constantFrom("a", "bb", "\n", "\n\n", "\r", "ccc\n", "\0")).map((parts) => parts.join(""));
    fc.assert(
      fc.property(
        content,
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 1, max: 20 }),
        (text, start, count, maxBytes) => {
          const { data, head, ...facts } = sliceLines(Buffer.from(text), { start, count, maxBytes });
          expect({ ...facts, data: Buffer.from(data).toString(), head: Buffer.from(head).toString() }).toEqual(
            naive(text, start, count, maxBytes),
          );
        },
      ),
    );
  });
});
