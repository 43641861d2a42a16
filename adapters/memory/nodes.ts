/** What a memory file system is made of. File bytes are never changed in place: a write puts a new array there. */
export interface FileNode {
  readonly kind: "file";
  mode: number;
  mtimeMs: number;
  data: Uint8Array;
  /** How many names lead here: 2 and more are hard links. */
  links: number;
}

export interface DirectoryNode {
  readonly kind: "directory";
  mode: number;
  mtimeMs: number;
  readonly entries: Map<string, Node>;
}

export interface LinkNode {
  readonly kind: "symlink";
  mode: number;
  mtimeMs: number;
  readonly target: string;
}

/** Things that are there and cannot be read: for tests of what must be refused. */
export type SpecialKind = "fifo" | "socket" | "block_device" | "character_device";

export interface SpecialNode {
  readonly kind: SpecialKind;
  mode: number;
  mtimeMs: number;
}

export type Node = FileNode | DirectoryNode | LinkNode | SpecialNode;

export function directoryNode(mode = 0o755): DirectoryNode {
  return { kind: "directory", mode, mtimeMs: Date.now(), entries: new Map() };
}

export function fileNode(data: Uint8Array, mode = 0o644): FileNode {
  return { kind: "file", mode, mtimeMs: Date.now(), data, links: 1 };
}

/** Bytes that a node counts for in the quota. */
export function bytesOf(node: Node): number {
  if (node.kind === "file") return node.data.byteLength;
  return node.kind === "symlink" ? Buffer.byteLength(node.target) : 0;
}
