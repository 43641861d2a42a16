/** Lower-case hexadecimal SHA-256 of a file's whole content: 64 characters. */
export type Sha256 = string;

export type FileKind = "file" | "directory" | "symlink" | "fifo" | "socket" | "block_device" | "character_device" | "unknown";

export interface VerbOptions {
  /** Aborting it settles the call; for `exec`, only once everything the command started is dead. */
  readonly signal?: AbortSignal;
}

export interface ReadFileOptions extends VerbOptions {
  /** Only these bytes travel. `offset` >= 0 counts from the start, `length` >= 0. Past the end: what is there. */
  readonly bytes?: { readonly offset: number; readonly length: number };
  /**
   * Only these lines travel, line feeds included. `start` is 1-based, `count` >= 1; a final line feed ends the last
   * line and starts none. At most `maxBytes` bytes (default 1 MiB) come back: the slice is cut there, mid-line if need be.
   */
  readonly lines?: { readonly start: number; readonly count: number; readonly maxBytes?: number };
}

export interface FileRead {
  /** The slice asked for, or the whole file. The caller's own copy. */
  readonly data: Uint8Array;
  /** Size of the whole file in bytes. */
  readonly size: number;
  readonly canonicalPath: string;
  /** With `lines`: how many lines the whole file has (0 when empty). */
  readonly totalLines?: number;
  /** With `lines`: the first bytes of the file, at most 8 KiB, so that its type can be told in the same trip. */
  readonly head?: Uint8Array;
  /** With `lines`, when line `start` alone is longer than `maxBytes`: its length in bytes, line feed not counted. */
  readonly firstLineBytes?: number;
}

export interface WriteFileOptions extends VerbOptions {
  /** What must be on the target for the write to happen: the SHA-256 of its content, or null for "no such file". */
  readonly ifMatch?: Sha256 | null;
}

export interface FileWritten {
  /** The file that holds the bytes now, symlinks resolved. */
  readonly canonicalPath: string;
  /** True when no file was there before. */
  readonly created: boolean;
}

export interface Stat {
  readonly kind: FileKind;
  /** Bytes. */
  readonly size: number;
  /** Permission bits, 0 to 0o7777. */
  readonly mode: number;
  /** Milliseconds since the epoch. */
  readonly mtimeMs: number;
  readonly canonicalPath: string;
}

export interface Entry {
  /** One path component as the target names it: never empty, `.`, `..`, nor with a slash or NUL in it. */
  readonly name: string;
  /** The entry's own kind: a symlink is `symlink`. */
  readonly kind: FileKind;
  /** For a symlink: where it points, as written. */
  readonly linkTarget?: string;
  /** For a symlink: the kind of what it leads to; absent when it is broken or leads outside the root. */
  readonly linkKind?: FileKind;
}

/**
 * The five file verbs. Paths are the target's, absolute or relative to the environment's working directory; `..` and
 * symlinks mean what they mean to the target's kernel. Shared promises:
 * - one round trip per verb over a remote target, confinement included;
 * - nothing outside `root` is read, written or named, where a root is set: `outside_root`;
 * - only regular files are read or written; anything else is `not_regular` (`is_directory` for a directory) at once;
 * - every rejection is a GloveboxError; a rejection leaves nothing changed unless its code is `unknown_outcome`.
 */
export interface FileVerbs {
  /**
   * Reads a regular file, or a slice of it. The bytes are of one moment: either one consistent snapshot or an error.
   * Rejects `not_found`, `is_directory`, `not_regular`, `permission_denied`, `outside_root`, `loop`, `too_large` (a whole
   * read beyond the adapter's cap, 256 MiB by default: ask for a slice).
   */
  readFile(path: string, options?: ReadFileOptions): Promise<FileRead>;

  /**
   * Writes a whole file, all or nothing: missing parents made, a temporary file in the same directory, its length checked
   * on the target, rename. A reader sees the old bytes or the new bytes. Mode and owner are kept (setuid and setgid bits
   * dropped); a symlink stays and its referent is written, and a dangling one is refused (`not_found`); where the target
   * outlives its power supply, file and directory are synced. The write happens under the target's lock of that file, so
   * two Glovebox processes never interleave. With `ifMatch` the comparison and the rename are one step under that lock; a
   * mismatch rejects `conflict` with `details` `{ expectedSha256, actualSha256 }` (null: no file) and changes nothing.
   * Rejects `hard_link` when the file has other names and the adapter's policy is to refuse; `no_space` keeps the old file.
   */
  writeFile(path: string, data: Uint8Array, options?: WriteFileOptions): Promise<FileWritten>;

  /** Follows symlinks. */
  stat(path: string, options?: VerbOptions): Promise<Stat>;

  /** Every entry, hidden ones included, in no particular order, kinds and link targets included. */
  readdir(path: string, options?: VerbOptions): Promise<readonly Entry[]>;

  /** The canonical path of what exists, with the rest kept as written (lexically normalised): never fails for a missing file. */
  realpath(path: string, options?: VerbOptions): Promise<string>;
}

export type OutputStream = "stdout" | "stderr";

export interface ExecOptions extends VerbOptions {
  /** Working directory on the target. A missing one rejects `not_started`. */
  readonly cwd?: string;
  /** Added to the environment's allow-listed variables. Never inherits the caller's own process environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** The command's whole standard input; nothing by default. */
  readonly stdin?: Uint8Array;
  /**
   * Called with each chunk, in order per stream. The chunk is the callee's to keep. A returned promise holds the flow
   * back (backpressure); a throw or rejection kills the command and rejects the call.
   */
  onOutput?(chunk: Uint8Array, stream: OutputStream): void | Promise<void>;
}

export interface ExecResult {
  /** The exit status, 0 to 255, as the authority saw it; absent when a signal ended the command. */
  readonly exitCode?: number;
  /** `SIGKILL` and so on, when a signal ended the command. */
  readonly signal?: string;
  /** True when the target's kernel killed the command, or something it started, for want of memory. */
  readonly outOfMemory?: boolean;
  /** Processes that the command started and that still run after its normal end (target's pids). */
  readonly background?: readonly number[];
}

export interface ShellVerbs {
  /**
   * Runs `command` with the target's shell (bash where there is one, else sh). Resolves for any exit; rejects `not_started`
   * (it never ran: safe to retry), `aborted` or `timeout` (by `signal`; everything it started is dead), `unknown_outcome`
   * (it may have run: never repeated by anyone), `disconnected`, `gone`, `out_of_memory`, `unsupported`, `invalid_argument`.
   * A background child that holds the pipes does not hold the call: output is drained for at most 250 ms after the exit.
   */
  exec(command: string, options?: ExecOptions): Promise<ExecResult>;
}

export interface GrepQuery {
  /** A regular expression of the engine (see `GrepResult.engine`), or plain text with `literal`. */
  readonly pattern: string;
  readonly literal?: boolean;
  readonly ignoreCase?: boolean;
  /** Only files whose path relative to the root (or whose name, for a pattern without a slash) matches. */
  readonly glob?: string;
  /** Lines of context on each side. Default 0. */
  readonly context?: number;
  /** Most matching lines wanted, >= 1. */
  readonly limit: number;
  /** Lines are cut at this many characters. Default 500. */
  readonly maxLineLength?: number;
}

export interface GrepLine {
  /** Relative to the search root; the file's own name when the root is a file. */
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  /** Without its line ending, cut at `maxLineLength` characters. */
  readonly text: string;
  readonly kind: "match" | "context";
  /** True when `text` was cut. */
  readonly cut?: boolean;
}

export interface GrepResult {
  /** Matches and their context: grouped by file, in line order within a file. */
  readonly lines: readonly GrepLine[];
  /** Matching lines among them. */
  readonly matches: number;
  /** True only when there are more matches than `limit`. */
  readonly limitReached: boolean;
  readonly engine: "ripgrep" | "grep" | "walk";
  /** Whether .gitignore rules were applied. */
  readonly ignoreRules: boolean;
  /** Special files and unreadable ones passed over, where the engine counts them. */
  readonly skipped?: number;
}

export interface FindQuery {
  /** A glob. Without a slash it matches names at any depth; with one it is anchored at the root. */
  readonly pattern: string;
  readonly limit: number;
}

export interface FoundPath {
  /** Relative to the root, without a trailing slash. */
  readonly path: string;
  readonly kind: FileKind;
}

export interface FindResult {
  /** Sorted by code point. */
  readonly paths: readonly FoundPath[];
  readonly limitReached: boolean;
  readonly engine: "fd" | "find" | "walk";
  readonly ignoreRules: boolean;
  readonly skipped?: number;
}

export interface SearchOptions<Batch> extends VerbOptions {
  /** Called as results arrive, for progress. */
  onBatch?(batch: readonly Batch[]): void;
}

export interface SearchVerbs {
  /** Rejects `not_found` for a missing root, `invalid_argument` for a bad pattern (with its position where known), `timeout`. */
  grep(root: string, query: GrepQuery, options?: SearchOptions<GrepLine>): Promise<GrepResult>;
  find(root: string, query: FindQuery, options?: SearchOptions<FoundPath>): Promise<FindResult>;
}

/** The eight verbs. */
export interface Verbs extends FileVerbs, ShellVerbs, SearchVerbs {}
export type VerbName = keyof Verbs;

/*
 * What each tool needs: the first verb or two are required, so that a test injects little; the rest make better answers
 * (nearest names for a missing path) and are used where they are there.
 */
export type ReadOperations = Pick<FileVerbs, "readFile"> & Partial<Pick<FileVerbs, "stat" | "readdir">>;
export type WriteOperations = Pick<FileVerbs, "writeFile"> & Partial<Pick<FileVerbs, "stat" | "readdir">>;
export type EditOperations = Pick<FileVerbs, "readFile" | "writeFile"> & Partial<Pick<FileVerbs, "stat" | "readdir">>;
export type BashOperations = Pick<ShellVerbs, "exec"> & Partial<Pick<FileVerbs, "writeFile">>;
export type GrepOperations = Pick<SearchVerbs, "grep"> & Partial<Pick<FileVerbs, "stat" | "readdir">>;
export type FindOperations = Pick<SearchVerbs, "find"> & Partial<Pick<FileVerbs, "stat" | "readdir">>;
export type LsOperations = Pick<FileVerbs, "readdir"> & Partial<Pick<FileVerbs, "stat">>;
