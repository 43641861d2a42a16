import type { GloveboxError } from "../../src/contract/errors.js";

/** One request to a lane. What the verbs are and what they answer is said in scripts/. */
export interface LaneCall {
  readonly verb: string;
  readonly arguments: readonly (string | number)[];
  /** Follows the request; its length is the last argument. */
  readonly payload?: Uint8Array;
  /** More than this of an answer is a broken target. */
  readonly maxReplyBytes: number;
  /** So long may nothing at all arrive while the answer is due. */
  readonly idleMs: number;
  /** Takes the body as it arrives; the frames' bodies are empty then. */
  readonly onBody?: (chunk: Buffer) => void;
}

/** A part of an answer: bytes, then words about them. */
export interface Frame {
  readonly body: Buffer;
  /** Words, separated by blanks, and in some answers a path at the end, which may hold anything. */
  readonly fields: Buffer;
}

/**
 * Verbs in, frames out. Answers come in the order of the calls, and several calls can be under way. `sh` is one way to
 * make a lane; a resident helper would be another.
 */
export interface Lane {
  /** Calls without an answer so far. */
  readonly pending: number;
  readonly alive: boolean;
  /** Rejects with `LaneLost`. */
  call(call: LaneCall): Promise<readonly Frame[]>;
  /** Lets go of it at once. Calls under way are lost. */
  destroy(reason: GloveboxError): void;
  /** Resolves when the lane is dead, with why. */
  readonly lost: Promise<GloveboxError>;
}

/** A call whose answer will never come. */
export class LaneLost extends Error {
  override readonly name = "LaneLost";
  /** Whether the target may have seen it. */
  readonly sent: boolean;
  readonly reason: GloveboxError;
  readonly lane: Lane;

  constructor(lane: Lane, sent: boolean, reason: GloveboxError) {
    super(reason.message, { cause: reason });
    this.lane = lane;
    this.sent = sent;
    this.reason = reason;
  }
}
