import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";

/** Either what came back, or the error's code. */
export type Seen = { readonly value: unknown } | { readonly code: string };

const CODES: Readonly<Record<string, string>> = {
  ENOENT: "not_found",
  ENOTDIR: "not_directory",
  EISDIR: "is_directory",
  ELOOP: "loop",
  ENAMETOOLONG: "invalid_argument",
};

/** What this machine's kernel says: the oracle for the memory file system. Paths are absolute. */
export const kernel = {
  read: (path: string): Seen => seen(() => readFileSync(path, "utf8")),
  stat: (path: string): Seen =>
    seen(() => {
      const stat = statSync(path);
      const kind = stat.isDirectory() ? "directory" : "file";
      return { kind, size: kind === "file" ? stat.size : undefined, canonicalPath: realpathSync.native(path) };
    }),
  list: (path: string): Seen =>
    seen(() =>
      readdirSync(path)
        .sort()
        .map((name) => {
          const entry = `${path}/${name}`;
          const stat = lstatSync(entry);
          if (!stat.isSymbolicLink()) return { name, kind: stat.isDirectory() ? "directory" : "file" };
          const behind = kernel.stat(entry);
          const linkKind = "value" in behind ? (behind.value as { readonly kind: string }).kind : undefined;
          return { name, kind: "symlink", linkTarget: readlinkSync(entry), ...(linkKind && { linkKind }) };
        }),
    ),
  realpath: (path: string): Seen => seen(() => realpathSync.native(path)),
  /** What is at a path for a writer: nothing of its own ("absent"), a file, a directory, or why it cannot be reached. */
  place: (path: string): string => {
    const stat = kernel.stat(path);
    if ("value" in stat) return (stat.value as { readonly kind: string }).kind;
    if (stat.code !== "not_found") return stat.code;
    return "absent";
  },
  /** The kind of what bears this very name, links not followed. */
  itself(path: string): string {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return "absent";
    return stat.isDirectory() ? "directory" : stat.isSymbolicLink() ? "symlink" : "file";
  },
  write(path: string, text: string): void {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  },
  symlink(target: string, path: string): void {
    rmSync(path, { recursive: true, force: true });
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(target, path);
  },
  remove: (path: string): void => rmSync(path, { recursive: true, force: true }),
};

function seen(run: () => unknown): Seen {
  try {
    return { value: run() };
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    return { code: CODES[code] ?? code };
  }
}
