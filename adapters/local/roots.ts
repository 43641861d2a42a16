import { realpathSync, statfsSync, statSync } from "node:fs";
import { errnoOf, refusal, toGloveboxError } from "./errors.js";
import type { Located, LocateOptions, Walker } from "./located.js";
import { descriptorOpener, nameOpener } from "./opener.js";
import type { RunRecord } from "./run-record.js";
import { openWalker } from "./walk.js";

const PROC_TYPE = 0x9fa0;

/** Where file verbs may go: the root, and the connection's own spool. */
export interface Roots {
  /** The walker that a path belongs to. Makes the spool for a writer that is the first to name it. */
  walkerOf(path: string, writing?: boolean): Walker;
  locate(path: string, options?: LocateOptions): Located;
  close(): void;
}

/** The canonical path of a directory. Rejects `not_found`, `not_directory`, `permission_denied`. */
export function canonicalRoot(path: string): string {
  try {
    const root = realpathSync(path);
    if (statSync(root).isDirectory()) return root;
  } catch (error) {
    throw toGloveboxError(error, `Opening ${JSON.stringify(path)}`);
  }
  throw refusal("not_directory", `${JSON.stringify(path)} is a file, and a local target is a directory. Name the directory it is in.`);
}

/** True where descriptors can be walked: Linux with a real /proc. */
export function canWalkDescriptors(): boolean {
  try {
    return process.platform === "linux" && statfsSync("/proc/self/fd").type === PROC_TYPE;
  } catch {
    return false;
  }
}

/** `alias` is the absolute path by which the caller named the root. */
export function openRoots(root: string, alias: string, record: RunRecord): Roots {
  const openerOf = canWalkDescriptors() ? descriptorOpener : nameOpener;
  const workspace = openWalker(root, alias, openerOf(root));
  const spoolPath = record.spoolDirectory;
  let spool: Walker | undefined;

  function walkerOf(path: string, writing = false): Walker {
    if (path !== spoolPath && !path.startsWith(`${spoolPath}/`)) return workspace;
    if (writing) record.openSpool();
    if (root === "/") return workspace;
    try {
      spool ??= openWalker(spoolPath, spoolPath, openerOf(spoolPath));
      return spool;
    } catch (error) {
      if (errnoOf(error) !== "ENOENT") throw error;
      throw refusal("not_found", `${JSON.stringify(path)} does not exist: nothing was kept there yet.`);
    }
  }

  return {
    walkerOf,
    locate: (path, options) => walkerOf(path).locate(path, options),
    close() {
      workspace.close();
      spool?.close();
    },
  };
}
