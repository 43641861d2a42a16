import { type Stats, statfsSync } from "node:fs";
import { refusal } from "./errors.js";

/** What is at the end of a path. */
export interface LocatedObject {
  /** Reaches it, whatever has become of its name. */
  readonly path: string;
  readonly stats: Stats;
  /** Throws when `fd`, opened by `path`, is something else: only where `path` is a name. */
  verify(fd: number): void;
}

/** Where a path leads. Close it: it may hold descriptors. */
export interface Located {
  /** Symlinks resolved; what does not exist is kept as written, lexically normalised. */
  readonly canonicalPath: string;
  /** Reaches the directory that holds the object, or the first missing name. Absent when the path ends in "/", ".." or at the root. */
  readonly parent?: string;
  readonly object?: LocatedObject;
  /** The names below `parent` that do not exist; empty when there is an object. */
  readonly missing: readonly string[];
  /** The first missing name is where a symlink points. */
  readonly dangling: boolean;
  /** The path ends in a slash, so only a directory will do. */
  readonly mustBeDirectory: boolean;
  close(): void;
}

export interface LocateOptions {
  /** `..` after a name that does not exist is resolved lexically instead of being an error. */
  readonly lexical?: boolean;
}

/** Resolves paths without ever leaving its root. */
export interface Walker {
  readonly root: string;
  /** Throws GloveboxErrors (`outside_root`, `loop`, `not_regular` for the kernel's own filesystems) and errors of the kernel. */
  locate(path: string, options?: LocateOptions): Located;
  close(): void;
}

/** How many symlinks one path may lead through, as in Linux. */
export const MAX_LINKS = 40;

const MAX_PATH_BYTES = 4095;

/*
 * Filesystems of the kernel's own making, by the type that statfs(2) reports: proc, sysfs, debugfs, tracefs, cgroup,
 * cgroup2, configfs, securityfs, bpf, pstore, efivarfs, selinuxfs, fusectl, mqueue, nsfs, binfmt_misc. What they call
 * files can block, never end, or lead out of any root.
 */
const PSEUDO_FILESYSTEMS = new Set([
  0x9fa0, 0x62656572, 0x64626720, 0x74726163, 0x27e0eb, 0x63677270, 0x62656570, 0x73636673, 0xcafe4a11, 0x6165676c, 0xde5e81e4, 0xf97cff8c,
  0x65735543, 0x19800202, 0x6e736673, 0x42494e4d,
]);

/** `reached` leads to the thing, `path` is what the caller calls it. */
export function refusePseudoFilesystem(reached: string, path: string): void {
  if (!PSEUDO_FILESYSTEMS.has(statfsSync(reached).type)) return;
  throw refusal(
    "not_regular",
    `${JSON.stringify(path)} belongs to the kernel (/proc, /sys and their like), not to a disk: reading it can block or never end. Use a command for it.`,
  );
}

export function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}

export function endsInSlash(path: string): boolean {
  return /\/\.?$/.test(path);
}

/** `path` with its beginning `alias` replaced by `root`, by whole components. */
export function withoutAlias(path: string, alias: string, root: string): string {
  return path === alias || path.startsWith(`${alias}/`) ? root + path.slice(alias.length) : path;
}

export function checkLength(path: string): void {
  const bytes = Buffer.byteLength(path);
  if (bytes > MAX_PATH_BYTES)
    throw refusal("invalid_argument", `The path has ${bytes} bytes; the kernel takes ${MAX_PATH_BYTES}. Shorten it.`);
}

export function outsideRoot(path: string, root: string): Error {
  return refusal(
    "outside_root",
    `${JSON.stringify(path)} leads out of ${root}, and file operations stay inside it. Use a path below ${root}.`,
  );
}

export function tooManyLinks(path: string): Error {
  return refusal(
    "loop",
    `The symlinks of ${JSON.stringify(path)} lead round in a circle, or through more than ${MAX_LINKS} of them. Name the real file.`,
  );
}

export function nothingThere(path: string): Error {
  return refusal("not_found", `${JSON.stringify(path)} does not exist. List its directory to see what is there.`);
}
