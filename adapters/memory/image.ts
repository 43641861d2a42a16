import type { FileSystem } from "./file-system.js";
import type { MemoryDisk } from "./files.js";
import { bytesOf, type DirectoryNode, type Node } from "./nodes.js";

/** One thing of a file system on its way to a worker thread and back. Paths are absolute. */
export interface ImageItem {
  readonly path: string;
  readonly kind: "file" | "directory" | "symlink";
  readonly mode: number;
  readonly mtimeMs: number;
  readonly data?: Uint8Array;
  readonly target?: string;
}

export interface ImageChanges {
  /** New or different, parents before what is in them. */
  readonly changed: readonly ImageItem[];
  readonly removed: readonly string[];
}

/** Everything that a shell can see: special files stay behind. Parents come before what is in them. */
export function imageOf(root: DirectoryNode): readonly ImageItem[] {
  const items: ImageItem[] = [];
  const pending: { readonly directory: DirectoryNode; readonly prefix: string }[] = [{ directory: root, prefix: "" }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const [name, node] of next.directory.entries) {
      const path = `${next.prefix}/${name}`;
      const { mode, mtimeMs } = node;
      if (node.kind === "file") items.push({ path, kind: "file", mode, mtimeMs, data: node.data });
      else if (node.kind === "symlink") items.push({ path, kind: "symlink", mode, mtimeMs, target: node.target });
      else if (node.kind === "directory") {
        items.push({ path, kind: "directory", mode, mtimeMs });
        pending.push({ directory: node, prefix: path });
      }
    }
  }
  return items;
}

/** Takes over what a command changed. Throws `no_space`, with nothing changed, where it does not fit. */
export function applyChanges(files: FileSystem, disk: MemoryDisk, { changed, removed }: ImageChanges): void {
  const existing = (path: string): Node | undefined => {
    try {
      return files.find(path, () => true, false).node;
    } catch {
      return undefined;
    }
  };
  let bytes = 0;
  let count = 0;
  for (const item of changed) {
    const old = existing(item.path);
    bytes += (item.data?.byteLength ?? 0) + Buffer.byteLength(item.target ?? "") - (old === undefined ? 0 : bytesOf(old));
    if (old === undefined) count += 1;
  }
  for (const path of removed) {
    const old = existing(path);
    if (old === undefined) continue;
    bytes -= bytesOf(old);
    count -= 1;
  }
  files.checkRoom(bytes, count, "/");
  for (const path of removed) disk.remove(path);
  for (const { path, kind, mode, mtimeMs, data, target } of changed) {
    const old = existing(path);
    if (old !== undefined && (old.kind === "directory") !== (kind === "directory")) disk.remove(path);
    if (kind === "directory") disk.put(path, { directory: true });
    else if (kind === "symlink") disk.put(path, { symlink: target ?? "" });
    else disk.put(path, { data: data ?? new Uint8Array() });
    if (kind !== "symlink") disk.chmod(path, mode);
    disk.touch(path, mtimeMs);
  }
}
