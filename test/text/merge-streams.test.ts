import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createStreamMerger, unfinishedLength } from "../../src/text/merge-streams.js";

type Name = "stdout" | "stderr";
type Push = readonly [Name, Uint8Array];

function merge(pushes: readonly Push[]): Buffer {
  const merger = createStreamMerger<Name>();
  const parts = pushes.flatMap(([name, chunk]) => merger.push(chunk, name));
  return Buffer.concat([...parts, ...merger.flush()]);
}

/** Cuts texts of two streams into chunks at any byte and deals them out in any order. */
const dealt = fc
  .record({
    stdout: fc.string({ unit: fc.constantFrom("o", "ö", "€", "😀") }),
    stderr: fc.string({ unit: fc.constantFrom("e", "é", "‰", "🚀") }),
    cuts: fc.infiniteStream(fc.integer({ min: 1, max: 4 })),
    turns: fc.infiniteStream(fc.boolean()),
  })
  .map(({ stdout, stderr, cuts, turns }) => {
    const left = { stdout: Buffer.from(stdout), stderr: Buffer.from(stderr) };
    const pushes: Push[] = [];
    while (left.stdout.length + left.stderr.length > 0) {
      const wanted: Name = turns.next().value ? "stdout" : "stderr";
      const name = left[wanted].length > 0 ? wanted : wanted === "stdout" ? "stderr" : "stdout";
      const size = cuts.next().value;
      pushes.push([name, left[name].subarray(0, size)]);
      left[name] = left[name].subarray(size);
    }
    return { stdout, stderr, pushes };
  });

describe("createStreamMerger", () => {
  it("B11 keeps every character whole and each stream in order, however they are cut and dealt (property)", () => {
    fc.assert(
      fc.property(dealt, ({ stdout, stderr, pushes }) => {
        const text = merge(pushes).toString();
        expect(text).not.toContain("\ufffd");
        expect([...text].filter((character) => "oö€😀".includes(character)).join("")).toBe(stdout);
        expect([...text].filter((character) => "eé‰🚀".includes(character)).join("")).toBe(stderr);
      }),
      { numRuns: 2000 },
    );
  });

  it("loses and changes no byte of one stream, valid or not (property)", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 8 })), (chunks) => {
        const merged = merge(chunks.map((chunk) => ["stdout", chunk] as const));
        expect(merged.equals(Buffer.concat(chunks))).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  it("holds back nothing but a start that can still become a character", () => {
    expect(unfinishedLength(Uint8Array.of(0x61, 0xe2, 0x82))).toBe(2);
    expect(unfinishedLength(Uint8Array.of(0xf0, 0x9f, 0x98))).toBe(3);
    expect(unfinishedLength(Uint8Array.of(0xc3))).toBe(1);
    for (const bytes of [[0x61], [0xff], [0x80, 0x80, 0x80], [0xe2, 0x82, 0xac], [0xed, 0xa0], [0xf4, 0x90], [0xc0], []]) {
      expect(unfinishedLength(Uint8Array.from(bytes))).toBe(0);
    }
  });
});
