import { createHash } from "node:crypto";
import { GloveboxError } from "../../src/contract/errors.js";
import type { Entry, FileRead, FileWritten, ReadFileOptions, Stat, WriteFileOptions } from "../../src/contract/operations.js";
import { sliceLines } from "./lines.js";
import { bytesOf, type DirectoryNode, directoryNode, fileNode, type Node } from "./nodes.js";
import { checkName, joinRest, type Walk, walk } from "./walk.js";

export interface FileSystemLimits {
  readonly maxBytes: number;
  readonly maxFiles: number;
}

export interface FileSystemPolicy extends FileSystemLimits {
  /** Behave as an account that is not root: the owner's permission bits count. */
  readonly enforceModes: boolean;
  readonly hardLinks: "refuse" | "break";
}

/** Which canonical paths a caller may touch. */
export type Allowed = (canonicalPath: string) => boolean;

const MAX_WHOLE_READ_BYTES = 256 * 1024 * 1024;

/**
 * A POSIX-like file system in memory. Every operation is one synchronous step, so each is atomic and each read is of one
 * moment. Paths are absolute. Bytes are copied in and out.
 */
export function createFileSystem(policy: FileSystemPolicy) {
  const root: DirectoryNode = directoryNode();
  const used = { bytes: 0, files: 0 };

  const search = (directory: DirectoryNode, path: () => string): void => permit(directory, path, 0o100);

  function permit(node: Node, path: string | (() => string), bit: number): void {
    if (!policy.enforceModes || (node.mode & bit) !== 0) return;
    throw new GloveboxError("permission_denied", "Permission bits forbid it. Choose another path, or have them changed.", {
      path: typeof path === "string" ? path : path(),
    });
  }

  function look(path: string, allowed: Allowed, followLast = true): Walk {
    const walked = walk(root, path, { followLast, search });
    const where = walked.end === "found" ? walked.path : joinRest(walked.path, walked.rest);
    // `..` behind what is missing could lead back in; what is missing must not be looked for outside.
    const astray = walked.end !== "found" && walked.rest.includes("..") && !allowed(joinRest(walked.path, walked.rest.slice(0, 1)));
    if (astray || !allowed(where)) {
      throw new GloveboxError("outside_root", "The path leads out of the root of this environment. Name a path inside it.", { path });
    }
    return walked;
  }

  function find(path: string, allowed: Allowed, followLast = true): Extract<Walk, { end: "found" }> {
    const walked = look(path, allowed, followLast);
    if (walked.end === "found") return walked;
    if (walked.end === "blocked") throw notDirectory(walked.path, path);
    const missing = joinRest(walked.path, walked.rest.slice(0, 1));
    throw new GloveboxError("not_found", `There is no ${missing}. List ${walked.path} to see what is there.`, { path });
  }

  function regularFile(node: Node, path: string): asserts node is Extract<Node, { kind: "file" }> {
    if (node.kind === "file") return;
    if (node.kind === "directory") throw new GloveboxError("is_directory", "It is a directory, not a file. Name a file in it.", { path });
    throw new GloveboxError("not_regular", `It is a ${node.kind.replace("_", " ")}, and only regular files are read or written.`, { path });
  }

  function checkRoom(bytes: number, files: number, path: string): void {
    const full =
      used.bytes + bytes > policy.maxBytes
        ? `${policy.maxBytes} bytes`
        : files > 0 && used.files + files > policy.maxFiles
          ? `${policy.maxFiles} files`
          : undefined;
    if (full === undefined) return;
    throw new GloveboxError(
      "no_space",
      `No space: the memory file system holds at most ${full}. Nothing was changed. Remove something, or raise maxBytes or maxFiles.`,
      { path, details: { usedBytes: used.bytes, usedFiles: used.files, maxBytes: policy.maxBytes, maxFiles: policy.maxFiles } },
    );
  }

  function put(directory: DirectoryNode, name: string, node: Node): void {
    const old = directory.entries.get(name);
    if (old !== undefined) release(old);
    directory.entries.set(name, node);
    directory.mtimeMs = Date.now();
    used.files += 1;
    used.bytes += bytesOf(node);
  }

  function release(node: Node): void {
    used.files -= 1;
    if (node.kind === "directory") for (const child of node.entries.values()) release(child);
    if (node.kind === "file") {
      node.links -= 1;
      if (node.links > 0) return;
    }
    used.bytes -= bytesOf(node);
  }

  function readFile(path: string, options: ReadFileOptions, allowed: Allowed): FileRead {
    const { node, path: canonicalPath } = find(path, allowed);
    regularFile(node, path);
    permit(node, path, 0o400);
    const { data } = node;
    const facts = { size: data.byteLength, canonicalPath };
    if (options.lines !== undefined) return { ...facts, ...sliceLines(data, options.lines) };
    if (options.bytes !== undefined) {
      return { ...facts, data: data.slice(options.bytes.offset, options.bytes.offset + options.bytes.length) };
    }
    if (data.byteLength > MAX_WHOLE_READ_BYTES) {
      throw new GloveboxError("too_large", `The file has ${data.byteLength} bytes, too many for one read. Ask for a slice of it.`, {
        path,
      });
    }
    return { ...facts, data: data.slice() };
  }

  /** `data` becomes the file system's own: the caller has copied it. */
  function writeFile(path: string, data: Uint8Array, { ifMatch }: WriteFileOptions, allowed: Allowed): FileWritten {
    const walked = look(path, allowed);
    if (walked.end === "blocked") throw notDirectory(walked.path, path);
    if (walked.end === "missing" && walked.dangling) {
      throw new GloveboxError("not_found", "It is a symbolic link to something that is not there. Write to the place it points to.", {
        path,
      });
    }
    const old = walked.end === "found" ? walked.node : undefined;
    if (old !== undefined) {
      regularFile(old, path);
      permit(old, path, 0o200);
    }
    permit(walked.directory, path, 0o200);
    const many = old !== undefined && old.links > 1;
    if (many && policy.hardLinks === "refuse") {
      throw new GloveboxError(
        "hard_link",
        'The file has other names (hard links), which a replaced file would leave behind. Write to a copy, or set the option hardLinks: "break".',
        { path, details: { option: "hardLinks", links: old.links } },
      );
    }
    if (ifMatch !== undefined) {
      const actual = old === undefined ? null : sha256(old.data);
      if (actual !== ifMatch) {
        throw new GloveboxError(
          "conflict",
          "The file is not what was expected: it changed, appeared or went away. Nothing was written. Read it again.",
          { path, details: { expectedSha256: ifMatch, actualSha256: actual } },
        );
      }
    }
    if (walked.end === "found" && old !== undefined) {
      checkRoom(many ? data.byteLength : data.byteLength - old.data.byteLength, 0, path);
      const { directory, name, path: canonicalPath } = walked;
      put(directory, name, { ...fileNode(data, old.mode & 0o1777) });
      return { canonicalPath, created: false };
    }
    const rest = walked.end === "missing" ? walked.rest : [];
    const name = rest.at(-1) ?? "";
    if (name === "." || name === "..") throw new GloveboxError("is_directory", "The path names a directory. Name a file.", { path });
    if (rest.includes("..")) throw new GloveboxError("not_found", "A directory on the way is not there, so `..` has no meaning.", { path });
    const parents = rest.slice(0, -1).filter((part) => part !== ".");
    for (const part of [...parents, name]) checkName(part, path);
    checkRoom(data.byteLength, parents.length + 1, path);
    let directory = walked.directory;
    for (const part of parents) {
      const made = directoryNode();
      put(directory, part, made);
      directory = made;
    }
    put(directory, name, fileNode(data));
    return { canonicalPath: joinRest(walked.path, rest), created: true };
  }

  function stat(path: string, allowed: Allowed): Stat {
    const { node, path: canonicalPath } = find(path, allowed);
    return { kind: node.kind, size: bytesOf(node), mode: node.mode, mtimeMs: node.mtimeMs, canonicalPath };
  }

  function readdir(path: string, allowed: Allowed): readonly Entry[] {
    const { node, path: canonicalPath } = find(path, allowed);
    if (node.kind !== "directory") throw notDirectory(canonicalPath, path);
    permit(node, path, 0o400);
    return [...node.entries].map(([name, child]) => {
      if (child.kind !== "symlink") return { name, kind: child.kind };
      const linkKind = kindBehind(joinRest(canonicalPath, [name]), allowed);
      return { name, kind: child.kind, linkTarget: child.target, ...(linkKind && { linkKind }) };
    });
  }

  function kindBehind(path: string, allowed: Allowed): Stat["kind"] | undefined {
    try {
      return find(path, allowed).node.kind;
    } catch {
      return undefined;
    }
  }

  function realpath(path: string, allowed: Allowed): string {
    const walked = look(path, allowed);
    return walked.end === "found" ? walked.path : joinRest(walked.path, walked.rest);
  }

  return { root, used, find, checkRoom, put, release, readFile, writeFile, stat, readdir, realpath };
}

export type FileSystem = ReturnType<typeof createFileSystem>;

export function sha256(data: Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

function notDirectory(at: string, path: string): GloveboxError {
  return new GloveboxError("not_directory", `${at} is not a directory. Name a directory there.`, { path });
}
