import { lstat, readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { GloveboxError } from "../../src/contract/errors.js";
import type { MemoryFile, MemoryFiles } from "./files.js";

/**
 * The regular files, directories and symlinks below a directory of this machine, as `files` takes them. Symlinks are not
 * followed; FIFOs, sockets and devices are left out. Rejects `too_large` beyond `maxBytes` (default 64 MiB).
 */
export async function seedFromDirectory(directory: string, { maxBytes = 64 * 1024 * 1024 } = {}): Promise<MemoryFiles> {
  const found: [string, MemoryFile][] = [];
  let bytes = 0;
  const pending = [""];
  for (let prefix = pending.pop(); prefix !== undefined; prefix = pending.pop()) {
    const entries = await readdir(join(directory, prefix), { withFileTypes: true }).catch((error: unknown) => {
      throw new GloveboxError("not_found", `The seed directory ${directory} cannot be listed. Name a readable directory of this machine.`, {
        path: join(directory, prefix ?? ""),
        cause: error,
      });
    });
    for (const entry of entries) {
      const path = prefix === "" ? entry.name : `${prefix}/${entry.name}`;
      const host = join(directory, path);
      if (entry.isDirectory()) {
        pending.push(path);
        found.push([path, { directory: true, mode: (await lstat(host)).mode & 0o7777 }]);
      } else if (entry.isSymbolicLink()) {
        found.push([path, { symlink: await readlink(host) }]);
      } else if (entry.isFile()) {
        const { size, mode } = await lstat(host);
        bytes += size;
        if (bytes > maxBytes) {
          throw new GloveboxError("too_large", `The seed directory holds more than ${maxBytes} bytes. Seed from a smaller one.`, {
            path: directory,
          });
        }
        found.push([path, { data: await readFile(host), mode: mode & 0o7777 }]);
      }
    }
  }
  return Object.fromEntries(found);
}
