import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { OutputStream } from "../../src/contract/operations.js";
import { truncateTail } from "../../src/text/truncate.js";
import { createOutputCollector, MAX_KEPT_BYTES } from "../../src/tools/bash-output.js";

function collect(chunks: readonly (readonly [Uint8Array, OutputStream])[]) {
  const output = createOutputCollector();
  for (const [chunk, stream] of chunks) output.push(chunk, stream);
  output.finish();
  return output;
}

const piece = fc.constantFrom("a", "é", "😀", "\n", "\n", "x".repeat(700), `${"y".repeat(120)}\n`, "\n".repeat(50));

describe("createOutputCollector", () => {
  it("shows the very tail that the whole output would give (property)", () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 400 }), fc.integer({ min: 1, max: 5000 }), fc.boolean(), (pieces, size, flood) => {
        const whole = Buffer.from(pieces.join("").repeat(flood ? 40 : 1));
        const chunks = Array.from({ length: Math.ceil(whole.length / size) }, (_, index) =>
          whole.subarray(index * size, (index + 1) * size),
        );
        const output = collect(chunks.map((chunk) => [chunk, "stdout"] as const));
        const wanted = truncateTail(whole.toString());
        const { text, shownLines, totalLines, by, totalBytes, partialLine } = output.shown();
        expect(text === wanted.text).toBe(true);
        expect({ shownLines, totalLines, by, partialLine }).toEqual({
          shownLines: wanted.shownLines,
          totalLines: wanted.totalLines,
          by: wanted.by,
          partialLine: wanted.partialLine,
        });
        expect(totalBytes).toBe(whole.length);
        expect(Buffer.compare(output.kept(), whole)).toBe(0);
      }),
      { numRuns: 300 },
    );
  });

  it("B11 keeps characters whole when two streams come a byte at a time", () => {
    const [out, error] = [Buffer.from("öö€"), Buffer.from("éé😀")];
    const chunks = Array.from({ length: 8 }, (_, index) => [
      [out.subarray(index, index + 1), "stdout"],
      [error.subarray(index, index + 1), "stderr"],
    ]).flat() as [Uint8Array, OutputStream][];
    const { text, invalidUtf8 } = collect(chunks).shown();
    expect(invalidUtf8).toBe(false);
    expect([...text].toSorted().join("")).toBe([..."öö€éé😀"].toSorted().join(""));
  });

  it("shows what is not UTF-8 as U+FFFD and says so, and keeps the bytes", () => {
    const output = collect([[Uint8Array.of(0x61, 0xff, 0xe2, 0x82), "stdout"]]);
    expect(output.shown()).toMatchObject({ text: "a\ufffd\ufffd", invalidUtf8: true });
    expect([...output.kept()]).toEqual([0x61, 0xff, 0xe2, 0x82]);
  });

  it("B09 keeps 32 MiB and no more, and still shows the tail", () => {
    const output = createOutputCollector();
    const chunk = Buffer.from("y\n".repeat(32 * 1024));
    for (let count = 0; count < 600; count += 1) output.push(chunk, "stdout");
    output.push(Buffer.from("the end\n"), "stdout");
    output.finish();
    expect(output.totalBytes).toBe(600 * 65_536 + 8);
    expect(output.kept().length).toBe(MAX_KEPT_BYTES);
    expect(output.shown()).toMatchObject({ shownLines: 2000, totalLines: 600 * 32_768 + 1, by: "lines" });
    expect(output.shown().text.endsWith("y\nthe end")).toBe(true);
  });

  it("B09 shows the end of one line without end", () => {
    const output = createOutputCollector();
    for (let count = 0; count < 100; count += 1) output.push(Buffer.from("€".repeat(1000)), "stdout");
    output.finish();
    const shown = output.shown();
    expect(shown).toMatchObject({ by: "bytes", partialLine: true, totalLines: 1, totalBytes: 300_000 });
    expect(shown.text).toBe("€".repeat(17_066));
  });
});
