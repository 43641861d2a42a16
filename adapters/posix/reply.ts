import type { Frame } from "./lane.js";

/** The words of a frame's fields: `first` says what kind of answer it is, `take` gives one after the other, `rest` a path. */
export interface Words {
  readonly first: string;
  /** The next word; "" when there is none. */
  take(): string;
  /** The next word as a number; NaN when it is none. */
  number(): number;
  /** All that is left, as the target wrote it. */
  rest(): string;
}

export function wordsOf({ fields }: Frame): Words {
  let at = 0;
  const take = (): string => {
    const end = fields.indexOf(0x20, at);
    const word = fields.toString("utf8", at, end === -1 ? fields.byteLength : end);
    at = end === -1 ? fields.byteLength : end + 1;
    return word;
  };
  return {
    first: take(),
    take,
    number: () => Number.parseInt(take(), 10),
    rest: () => fields.toString("utf8", at),
  };
}

/** The frames of each attempt at an answer: all but the last one end in an `again`. */
export function attemptsOf(frames: readonly Frame[]): readonly (readonly Frame[])[] {
  const attempts: Frame[][] = [[]];
  for (const frame of frames) {
    attempts.at(-1)?.push(frame);
    if (wordsOf(frame).first === "again") attempts.push([]);
  }
  return attempts;
}

const NOTHING: Frame = { body: Buffer.alloc(0), fields: Buffer.from("no answer") };

/** The frame that ends an answer. */
export function lastOf(frames: readonly Frame[]): Frame {
  return frames.at(-1) ?? NOTHING;
}
