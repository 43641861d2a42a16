import type { Dirent, Stats } from "node:fs";
import type { FileKind } from "../../src/contract/operations.js";

/** What a directory entry or a stat is of. */
export function kindOf(of: Stats | Dirent): FileKind {
  if (of.isFile()) return "file";
  if (of.isDirectory()) return "directory";
  if (of.isSymbolicLink()) return "symlink";
  if (of.isFIFO()) return "fifo";
  if (of.isSocket()) return "socket";
  if (of.isBlockDevice()) return "block_device";
  if (of.isCharacterDevice()) return "character_device";
  return "unknown";
}
