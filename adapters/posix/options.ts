import type { GloveboxEvent } from "../../src/contract/events.js";
import type { ExecOptions, ExecResult } from "../../src/contract/operations.js";
import type { Connection } from "../../src/contract/target.js";
import type { TargetFacts } from "./facts.js";

export interface PosixOptions {
  /** Working directory on the target; where its shell starts by default. */
  readonly cwd?: string;
  /**
   * A guard rail for the file and search verbs, checked in the same trip. Between the check and the use of the last name a
   * symlink can be swapped in. None by default: the container, the account are the boundary.
   */
  readonly root?: string;
  /** Sync file and directory before a write is acknowledged. Default true. */
  readonly durable?: boolean;
  /** What becomes of a file with other names when it is written. Default "refuse". */
  readonly hardLinks?: "refuse" | "break";
  /** Added to the environment of every command. */
  readonly env?: Readonly<Record<string, string>>;
  /** What the transport starts for a shell. Default `["sh"]`. */
  readonly shell?: readonly string[];
  /** Larger files are read in slices only. Default 256 MiB. */
  readonly maxReadBytes?: number;
  /** Shells for small requests, opened when those there are crowded. Default 3. */
  readonly maxFileLanes?: number;
  /** Shells for searches and large transfers, one job each, opened when needed. Default 4. */
  readonly maxBusyLanes?: number;
  /** Shells that wait for a command. Default 1; with 0 each command opens its own. */
  readonly spareLanes?: number;
  /** Where commands follow one another closely, up to so many. Default: `spareLanes`. */
  readonly maxSpareLanes?: number;
  /** Report a command as out of memory when the kernel's count for the target's control group rose while it ran. For containers. */
  readonly countOutOfMemory?: boolean;
  readonly onEvent?: (event: GloveboxEvent) => void;
  /** Aborts the connecting. */
  readonly signal?: AbortSignal;
}

export interface PosixConnection extends Connection {
  exec(command: string, options?: ExecOptions): Promise<ExecResult>;
  /** What the probe found. */
  readonly facts: TargetFacts;
}
