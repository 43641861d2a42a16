import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { outputSplitter } from "../../../adapters/posix/output-splitter.js";
import { chunked, chunks, hostile, markers } from "./streams.js";

describe("outputSplitter", () => {
  it("tells noise, words and output apart whatever they hold and however the stream is cut up", () => {
    fc.assert(
      fc.property(
        markers.chain((marker) =>
          fc.tuple(fc.constant(marker), hostile([marker.slice(0, 31)]), hostile([marker.slice(0, 31)]), hostile([])),
        ),
        chunks,
        ([marker, noise, output, tail], sizes) => {
          const m = Buffer.from(marker);
          fc.pre(![noise, output].some((bytes) => bytes.includes(m)) && !Buffer.concat([noise, m.subarray(0, 31)]).includes(m));
          const split = outputSplitter(m);
          const pieces = chunked(
            Buffer.concat([noise, m, Buffer.from("4711"), m, output, m, Buffer.from("exit 3 0"), m, tail, m, tail]),
            sizes,
          ).flatMap(split);
          expect(pieces.filter(({ kind }) => kind === "words")).toEqual([
            { kind: "words", words: "4711" },
            { kind: "words", words: "exit 3 0" },
          ]);
          expect(Buffer.concat(pieces.flatMap((piece) => (piece.kind === "output" ? [piece.data] : []))).toString("hex")).toBe(
            output.toString("hex"),
          );
          expect(pieces.findLastIndex(({ kind }) => kind === "output")).toBeLessThan(pieces.findLastIndex(({ kind }) => kind === "words"));
        },
      ),
    );
  });

  it("holds nothing back that cannot be the beginning of a marker", () => {
    const split = outputSplitter(Buffer.from("MARKER"));
    split(Buffer.from("MARKER1MARKER"));
    expect(split(Buffer.from("prompt> "))).toEqual([{ kind: "output", data: Buffer.from("prompt> ") }]);
    expect(split(Buffer.from("MAR"))).toEqual([]);
    expect(split(Buffer.from("S"))).toEqual([{ kind: "output", data: Buffer.from("MARS") }]);
  });
});
