import { GloveboxError } from "../../src/contract/errors.js";
import type { DirectoryNode, Node } from "./nodes.js";

/** Linux's own limits: NAME_MAX, PATH_MAX without its NUL, and how many symlinks one look-up follows. */
const MAX_NAME_BYTES = 255;
const MAX_PATH_BYTES = 4095;
const MAX_LINKS = 40;

interface Reached {
  /** The canonical path of the last thing that is there. */
  readonly path: string;
  /** The directory that holds it, or would hold what is missing. */
  readonly directory: DirectoryNode;
}

/** Where a path leads, as a POSIX kernel would walk it. */
export type Walk = Reached &
  (
    | { readonly end: "found"; readonly node: Node; readonly name: string }
    /** `rest`: the components that are not there, as written. `dangling`: it was a symlink that named the missing one. */
    | { readonly end: "missing"; readonly rest: readonly string[]; readonly dangling: boolean }
    /** Something that is no directory stands where one must be. */
    | { readonly end: "blocked"; readonly rest: readonly string[] }
  );

export interface WalkOptions {
  /** Whether a symlink at the very end is followed. */
  readonly followLast: boolean;
  /** Called for every directory that is searched: throws when it may not be. */
  search?(directory: DirectoryNode, path: () => string): void;
}

/** Walks an absolute path from `root`. Throws `loop` and `invalid_argument` (names or paths longer than Linux takes). */
export function walk(root: DirectoryNode, path: string, { followLast, search }: WalkOptions): Walk {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw tooLong("path", MAX_PATH_BYTES, path);
  const directories: DirectoryNode[] = [root];
  const names: string[] = [];
  const here = (): string => `/${names.join("/")}`;
  const current = (): DirectoryNode => directories.at(-1) ?? root;
  // The next component is the last of the array.
  const pending = components(path)
    .map((name) => ({ name, fromLink: false }))
    .reverse();
  const left = (): readonly string[] => pending.map((later) => later.name).reverse();
  let hops = 0;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { name, fromLink } = next;
    search?.(current(), here);
    if (name === ".") continue;
    if (name === "..") {
      if (names.length > 0) {
        names.pop();
        directories.pop();
      }
      continue;
    }
    if (Buffer.byteLength(name) > MAX_NAME_BYTES) throw tooLong("name", MAX_NAME_BYTES, path);
    const node = current().entries.get(name);
    if (node === undefined) {
      return { end: "missing", path: here(), directory: current(), rest: [name, ...left()], dangling: fromLink };
    }
    if (node.kind === "symlink" && (followLast || pending.length > 0)) {
      hops += 1;
      if (hops > MAX_LINKS) {
        throw new GloveboxError("loop", "Too many symbolic links on the way: they lead back to each other. Name the real file.", { path });
      }
      if (node.target.startsWith("/")) {
        directories.length = 1;
        names.length = 0;
      }
      pending.push(
        ...components(node.target)
          .map((component) => ({ name: component, fromLink: true }))
          .reverse(),
      );
    } else if (node.kind === "directory") {
      directories.push(node);
      names.push(name);
    } else {
      const at = { path: `/${[...names, name].join("/")}`, directory: current() };
      return pending.length > 0 ? { ...at, end: "blocked", rest: left() } : { ...at, end: "found", node, name };
    }
  }
  return { end: "found", node: current(), name: names.at(-1) ?? "", path: here(), directory: directories.at(-2) ?? root };
}

/** A trailing slash asks for a directory, which is what a final `.` says too. */
function components(path: string): string[] {
  const parts = path.split("/").filter((part) => part !== "");
  if (path.endsWith("/")) parts.push(".");
  return parts;
}

/** `rest` put behind `path`, with `.` and `..` taken out without looking at anything. */
export function joinRest(path: string, rest: readonly string[]): string {
  const parts = path.split("/").filter((part) => part !== "");
  for (const part of rest) {
    if (part === "..") parts.pop();
    else if (part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

export function checkName(name: string, path: string): void {
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) throw tooLong("name", MAX_NAME_BYTES, path);
}

function tooLong(what: "name" | "path", limit: number, path: string): GloveboxError {
  return new GloveboxError("invalid_argument", `The ${what} is longer than the ${limit} bytes a file system takes. Choose a shorter one.`, {
    path: path.length > 300 ? `${path.slice(0, 300)}…` : path,
    details: { limitBytes: limit },
  });
}
