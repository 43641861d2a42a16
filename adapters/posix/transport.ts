import type { Readable, Writable } from "node:stream";
import type { GloveboxError } from "../../src/contract/errors.js";

/** How a process on the target ended, as its authority reported it. `lost`: nobody can say (never a success). */
export type ProcessOutcome =
  | { readonly kind: "exited"; readonly exitCode: number; readonly outOfMemory?: boolean }
  | { readonly kind: "signalled"; readonly signal: string; readonly outOfMemory?: boolean }
  | { readonly kind: "lost"; readonly error: GloveboxError };

/** A process that a transport started on the target. */
export interface RemoteProcess {
  /** `end()` is end of file over there. Honours `write`'s false and `drain`. Never emits an unhandled `error`. */
  readonly stdin: Writable;
  /** Both push back: what is not read here is not taken from the link without bound. Never emit an unhandled `error`. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  /**
   * Settles, and never rejects, when the authority said how it ended or when that can no longer be known. "The stream
   * ended" is not an exit. May settle before stdout and stderr end (a background child can hold them).
   */
  readonly outcome: Promise<ProcessOutcome>;
  /** Lets go of our ends. Does not promise that the process dies. Idempotent. */
  destroy(): void;
}

export interface StartOptions {
  readonly signal?: AbortSignal;
  /** "lane": long-lived; "command": one command of a caller's; "control": short, ours, may use reserved capacity (kill). */
  readonly purpose: "lane" | "command" | "control";
}

/** All that an adapter for a POSIX target writes. A working one fits in thirty lines (examples/). */
export interface Transport {
  /** See `Place.id`. */
  readonly id: string;
  readonly label: string;
  /**
   * Starts this argv over there, with no shell of ours in between and the account's own environment. Rejects `not_started`,
   * `disconnected`, `gone`, `auth_failed`, `host_key`, `busy`, `timeout`, within a deadline of its own.
   */
  start(argv: readonly string[], options: StartOptions): Promise<RemoteProcess>;
  close(): Promise<void>;
}
