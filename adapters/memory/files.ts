import { GloveboxError } from "../../src/contract/errors.js";
import type { FileSystem } from "./file-system.js";
import { bytesOf, type DirectoryNode, directoryNode, fileNode, type Node, type SpecialKind } from "./nodes.js";
import { walk } from "./walk.js";

/** One thing to put at a path: text or bytes of a file, or an object that says more. */
export type MemoryFile =
  | string
  | Uint8Array
  | { readonly data: string | Uint8Array; readonly mode?: number }
  | { readonly symlink: string }
  | { readonly directory: true; readonly mode?: number }
  | { readonly special: SpecialKind };

/** Paths (absolute, or relative to the working directory) and what is there. */
export type MemoryFiles = Readonly<Record<string, MemoryFile>>;

/**
 * The file system seen by a test, beside the verbs: synchronous, unconfined, not recorded in `calls`, no permission bits
 * asked. Paths are absolute or relative to the working directory; a symlink at the end is itself, not what it leads to.
 */
export interface MemoryDisk {
  /** Puts something there, parents made, in place of what was there. Throws `no_space` past the quota. */
  put(path: string, file: MemoryFile): void;
  /** Another name for the same file. */
  link(existing: string, path: string): void;
  chmod(path: string, mode: number): void;
  /** Sets the time of last change, in milliseconds since the epoch. */
  touch(path: string, mtimeMs: number): void;
  rename(from: string, to: string): void;
  /** Removes it and all below it; nothing there is fine. */
  remove(path: string): void;
  /** Everything below a directory (default: the working directory) as data that `put` and `files` take again. */
  snapshot(directory?: string): MemoryFiles;
}

const everywhere = (): boolean => true;

export function createDisk(files: FileSystem, cwd: string): MemoryDisk {
  const absolute = (path: string): string => (path.startsWith("/") ? path : `${cwd}/${path}`);

  /** The directory that holds the last component, made if missing, and that component's name. */
  function holder(path: string): { readonly directory: DirectoryNode; readonly name: string } {
    const parts = absolute(path).split("/");
    while (parts.at(-1) === "" && parts.length > 1) parts.pop();
    const name = parts.pop() ?? "";
    if (name === "" || name === "." || name === "..") throw invalid(`${JSON.stringify(path)} does not name something in a directory.`);
    return { directory: directoryAt(parts.join("/")), name };
  }

  function directoryAt(path: string): DirectoryNode {
    const walked = walk(files.root, path, { followLast: true });
    if (walked.end === "missing") {
      let directory = walked.directory;
      for (const part of walked.rest.filter((each) => each !== ".")) {
        files.checkRoom(0, 1, path);
        const made = directoryNode();
        files.put(directory, part, made);
        directory = made;
      }
      return directory;
    }
    if (walked.end === "found" && walked.node.kind === "directory") return walked.node;
    throw new GloveboxError("not_directory", `${walked.path} is not a directory.`, { path });
  }

  const at = (path: string): Node => files.find(absolute(path), everywhere, false).node;

  function remove(path: string): void {
    const walked = walk(files.root, absolute(path), { followLast: false });
    if (walked.end !== "found" || walked.name === "") return;
    files.release(walked.node);
    walked.directory.entries.delete(walked.name);
    walked.directory.mtimeMs = Date.now();
  }

  return {
    put(path, file) {
      if (typeof file === "object" && "directory" in file) {
        const directory = directoryAt(absolute(path));
        if (file.mode !== undefined) directory.mode = file.mode;
        return;
      }
      const node = nodeOf(file);
      const { directory, name } = holder(path);
      const old = directory.entries.get(name);
      files.checkRoom(bytesOf(node) - (old === undefined ? 0 : bytesOf(old)), old === undefined ? 1 : 0, path);
      files.put(directory, name, node);
    },
    link(existing, path) {
      const node = at(existing);
      if (node.kind !== "file") throw invalid(`${existing} is a ${node.kind}: only files can have a second name.`);
      const { directory, name } = holder(path);
      files.checkRoom(0, 1, path);
      node.links += 1;
      files.put(directory, name, node);
      files.used.bytes -= bytesOf(node);
    },
    chmod(path, mode) {
      at(path).mode = mode;
    },
    touch(path, mtimeMs) {
      at(path).mtimeMs = mtimeMs;
    },
    rename(from, to) {
      const source = files.find(absolute(from), everywhere, false);
      const { directory, name } = holder(to);
      const old = directory.entries.get(name);
      if (old === source.node) return;
      if (old !== undefined) files.release(old);
      source.directory.entries.delete(source.name);
      directory.entries.set(name, source.node);
    },
    remove,
    snapshot(directory = ".") {
      const top = at(directory);
      if (top.kind !== "directory") throw invalid(`${directory} is not a directory.`);
      // fromEntries defines own properties, whatever they are called.
      return Object.fromEntries(listing(top, ""));
    },
  };
}

function nodeOf(file: Exclude<MemoryFile, { readonly directory: true }>): Node {
  const now = Date.now();
  if (typeof file === "string" || file instanceof Uint8Array) return fileNode(bytes(file));
  if ("symlink" in file) return { kind: "symlink", mode: 0o777, mtimeMs: now, target: file.symlink };
  if ("special" in file) return { kind: file.special, mode: 0o644, mtimeMs: now };
  return fileNode(bytes(file.data), file.mode);
}

const bytes = (data: string | Uint8Array): Uint8Array => (typeof data === "string" ? new TextEncoder().encode(data) : new Uint8Array(data));

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function* listing(directory: DirectoryNode, prefix: string): Generator<[string, MemoryFile]> {
  const names = [...directory.entries.keys()].sort();
  for (const name of names) {
    const node = directory.entries.get(name);
    const path = `${prefix}${name}`;
    if (node?.kind === "directory") {
      if (node.entries.size === 0) yield [path, { directory: true }];
      else yield* listing(node, `${path}/`);
    } else if (node !== undefined) yield [path, describeNode(node)];
  }
}

function describeNode(node: Exclude<Node, DirectoryNode>): MemoryFile {
  if (node.kind === "symlink") return { symlink: node.target };
  if (node.kind !== "file") return { special: node.kind };
  let data: string | Uint8Array;
  try {
    data = utf8.decode(node.data);
  } catch {
    data = node.data.slice();
  }
  return node.mode === 0o644 ? data : { data, mode: node.mode };
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("invalid_argument", message);
}
