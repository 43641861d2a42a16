import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ExpectedReply, frameReader, heldBack } from "../../../adapters/posix/frame-reader.js";
import type { Frame } from "../../../adapters/posix/lane.js";
import { chunked, chunks, hostile, markers } from "./streams.js";

interface Answer {
  readonly marker: string;
  readonly frames: readonly { readonly body: Buffer; readonly fields: string }[];
}

function bytesOf({ marker, frames }: Answer): Buffer {
  return Buffer.concat(frames.flatMap(({ body, fields }) => [Buffer.from(marker), body, Buffer.from(marker + fields + marker)]));
}

/** Reads answers that come in these pieces. */
function read(
  answers: readonly Answer[],
  pieces: readonly Buffer[],
  options: { readonly noise?: boolean; readonly maxBytes?: number } = {},
) {
  const got: Frame[][] = answers.map(() => []);
  let current = 0;
  const take = frameReader({
    due(): ExpectedReply | undefined {
      const answer = answers[current];
      return (
        answer && {
          marker: Buffer.from(answer.marker),
          maxBytes: options.maxBytes ?? 1e9,
          skipNoise: options.noise === true && current === 0,
          onFrame: (frame) => void got[current]?.push(frame),
        }
      );
    },
    complete() {
      current += 1;
    },
  });
  for (const piece of pieces) {
    const breach = take(piece);
    if (breach !== undefined) return { breach, got };
  }
  return { breach: undefined, got, complete: current };
}

const answers = fc.uniqueArray(markers, { minLength: 1, maxLength: 5 }).chain((names) =>
  fc.tuple(
    ...names.map((marker, index) =>
      fc
        .array(hostile([...names.slice(0, index), ...names.slice(index + 1), marker.slice(0, 31), marker.slice(0, 1)]), { maxLength: 2 })
        .chain((more) =>
          hostile(names.slice(0, index)).map(
            (last): Answer => ({
              marker,
              frames: [
                ...more.map((body, part) => ({ body, fields: part % 2 === 0 ? "part" : "again" })),
                { body: last, fields: "ok 12 /some path\nwith a line feed" },
              ],
            }),
          ),
        ),
    ),
  ),
);

describe("frameReader", () => {
  it("finds every frame whatever the bodies hold and however the stream is cut up", () => {
    fc.assert(
      fc.property(answers, chunks, (given, sizes) => {
        const { breach, got, complete } = read(given, chunked(Buffer.concat(given.map(bytesOf)), sizes));
        expect(breach).toBeUndefined();
        expect(complete).toBe(given.length);
        for (const [index, { frames }] of given.entries()) {
          expect(got[index]?.map(({ fields }) => fields.toString())).toEqual(frames.map(({ fields }) => fields));
          expect(got[index]?.map(({ body }) => body.toString("hex"))).toEqual(frames.map(({ body }) => body.toString("hex")));
        }
      }),
    );
  });

  it("skips what a login shell says before the first answer, and nothing later", () => {
    const given: Answer[] = ["1", "2"].map((digit) => ({
      marker: `M${digit.repeat(32)}`,
      frames: [{ body: Buffer.from("x"), fields: "ok" }],
    }));
    const stream = Buffer.concat([Buffer.from("Welcome!\nM111"), ...given.map(bytesOf)]);
    expect(read(given, [stream], { noise: true }).complete).toBe(2);
    expect(read(given, [stream]).breach).toBe("out of step");
    expect(read(given, [bytesOf(given[0] as Answer), Buffer.from("stray"), bytesOf(given[1] as Answer)]).breach).toBe("out of step");
  });

  it("gives up on bodies, fields and noise beyond their bounds", () => {
    const marker = `M${"0".repeat(32)}`;
    const of = (body: number, fields: number): Answer[] => [{ marker, frames: [{ body: Buffer.alloc(body), fields: "x".repeat(fields) }] }];
    expect(read(of(1001, 2), chunked(bytesOf(of(1001, 2)[0] as Answer), [100]), { maxBytes: 1000 }).breach).toBe("too long");
    expect(read(of(1000, 2), chunked(bytesOf(of(1000, 2)[0] as Answer), [100]), { maxBytes: 1000 }).complete).toBe(1);
    expect(read(of(0, 70_000), chunked(bytesOf(of(0, 70_000)[0] as Answer), [100])).breach).toBe("too long");
    expect(read(of(0, 1), chunked(Buffer.alloc(2_000_000), [65_536]), { noise: true }).breach).toBe("too long");
  });

  it("takes an answer that nobody asked for as a breach", () => {
    expect(read([], [Buffer.from("x")]).breach).toBe("out of step");
  });
});

describe("heldBack", () => {
  it("is the longest end that begins the marker", () => {
    const marker = Buffer.from("abcabd");
    expect(heldBack(Buffer.from("xxabcab"), marker)).toBe(5);
    expect(heldBack(Buffer.from("abcabcab"), marker)).toBe(5);
    expect(heldBack(Buffer.from("xyz"), marker)).toBe(0);
    expect(heldBack(Buffer.from("a"), marker)).toBe(1);
    expect(heldBack(Buffer.alloc(0), marker)).toBe(0);
  });
});
