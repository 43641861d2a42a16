import { createHash } from "node:crypto";
import { dirname } from "node:path/posix";
import { abortError, type ErrorCode, GloveboxError } from "../contract/errors.js";
import type {
  ExecOptions,
  ExecResult,
  FileKind,
  FileRead,
  OutputStream,
  ReadFileOptions,
  WriteFileOptions,
} from "../contract/operations.js";
import type { Connection, Target } from "../contract/target.js";

interface NaiveStats {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
  readonly size: number;
  readonly mode: number;
  readonly mtimeMs: number;
}

interface NaiveStream {
  on(event: "data", listener: (chunk: Uint8Array) => void): unknown;
}

/** What it takes from the host: `node:fs/promises` and `spawn` of `node:child_process` fit. */
export interface NaiveHost {
  readonly files: {
    readFile(path: string): Promise<Uint8Array>;
    writeFile(path: string, data: Uint8Array): Promise<void>;
    mkdir(path: string, options: { readonly recursive: true }): Promise<unknown>;
    stat(path: string): Promise<NaiveStats>;
    lstat(path: string): Promise<NaiveStats>;
    readdir(path: string): Promise<string[]>;
    readlink(path: string): Promise<string>;
    realpath(path: string): Promise<string>;
  };
  spawn(
    command: string,
    args: readonly string[],
    options: { readonly cwd: string },
  ): {
    readonly stdout: NaiveStream;
    readonly stderr: NaiveStream;
    readonly stdin: { on(event: "error", listener: () => void): unknown; end(data?: Uint8Array): unknown };
    on(event: "error", listener: (error: Error) => void): unknown;
    on(event: "close", listener: (code: number | null) => void): unknown;
    kill(): unknown;
  };
}

/**
 * An adapter that does what first comes to mind, to prove that the contract can fail. It writes in place, compares before
 * it writes and without a lock, checks the real path by its beginning and then opens the path, waits for the pipes of a
 * command instead of its exit, takes a missing exit code for 0, kills the direct child only, lets output pile up, and hands
 * its own environment to commands. Never use it for anything else.
 */
export function naive({ files, spawn }: NaiveHost, directory: string): Target {
  return {
    kind: "naive",
    label: `naive:${directory}`,
    connect: async () => connection(files, spawn, await files.realpath(directory)),
  };
}

const codes: Readonly<Record<string, ErrorCode>> = {
  ENOENT: "not_found",
  EISDIR: "is_directory",
  ENOTDIR: "not_directory",
  ELOOP: "loop",
  ENAMETOOLONG: "invalid_argument",
  EACCES: "permission_denied",
};

async function translated<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof GloveboxError) throw error;
    const code = codes[(error as { readonly code?: string }).code ?? ""] ?? "unexpected";
    throw new GloveboxError(code, String(error), { cause: error });
  }
}

const sha256 = (data: Uint8Array): string => createHash("sha256").update(data).digest("hex");

function connection(files: NaiveHost["files"], spawn: NaiveHost["spawn"], root: string): Connection {
  const absolute = (path: string): string => (path.startsWith("/") ? path : `${root}/${path}`);
  const realpath = async (path: string): Promise<string> =>
    await files.realpath(path).catch(async () => {
      const parent = dirname(path);
      return parent === path ? path : `${await realpath(parent)}/${path.slice(path.lastIndexOf("/") + 1)}`;
    });
  const checked = async (given: string): Promise<string> => {
    const path = absolute(given);
    if (!(await realpath(path)).startsWith(root)) throw new GloveboxError("outside_root", `${path} is outside ${root}`, { path });
    return path;
  };

  async function readFile(given: string, { bytes, lines }: ReadFileOptions): Promise<FileRead> {
    const path = await checked(given);
    const data = await files.readFile(path);
    const facts = { size: data.byteLength, canonicalPath: await realpath(path) };
    if (bytes !== undefined) return { ...facts, data: data.subarray(bytes.offset, bytes.offset + bytes.length) };
    if (lines === undefined) return { ...facts, data };
    const text = Buffer.from(data).toString("latin1");
    const all = text === "" ? [] : text.split(/(?<=\n)/);
    const slice = all.slice(lines.start - 1, lines.start - 1 + lines.count).join("");
    return { ...facts, data: Buffer.from(slice, "latin1"), totalLines: all.length, head: data.subarray(0, 8192) };
  }

  async function writeFile(given: string, data: Uint8Array, { ifMatch }: WriteFileOptions) {
    const path = await checked(given);
    const old = await files.readFile(path).catch(() => undefined);
    const actual = old === undefined ? null : sha256(old);
    if (ifMatch !== undefined && actual !== ifMatch) {
      throw new GloveboxError("conflict", "changed", { details: { expectedSha256: ifMatch, actualSha256: actual } });
    }
    await files.mkdir(dirname(path), { recursive: true });
    await files.writeFile(path, data);
    return { canonicalPath: await realpath(path), created: old === undefined };
  }

  function exec(command: string, { cwd = root, env = {}, stdin, signal, onOutput }: ExecOptions): Promise<ExecResult> {
    return new Promise((resolve, reject) => {
      const child = spawn("env", [...Object.entries(env).map(([name, value]) => `${name}=${value}`), "sh", "-c", command], {
        cwd: absolute(cwd),
      });
      const tell = async (chunk: Uint8Array, stream: OutputStream): Promise<void> => await onOutput?.(chunk, stream);
      child.stdout.on("data", (chunk) => tell(chunk, "stdout").catch(() => {}));
      child.stderr.on("data", (chunk) => tell(chunk, "stderr").catch(() => {}));
      child.stdin.on("error", () => {});
      child.stdin.end(stdin);
      child.on("error", reject);
      child.on("close", (code) => resolve({ exitCode: code ?? 0 }));
      signal?.addEventListener("abort", () => {
        child.kill();
        reject(abortError(signal));
      });
    });
  }

  return {
    id: `naive:${root}`,
    cwd: root,
    root,
    spoolDirectory: `${root}/.spool`,
    capabilities: {
      exec: true,
      processes: true,
      shell: "sh",
      symlinks: true,
      hardLinks: true,
      specialFiles: true,
      modes: true,
      durable: false,
      confinement: "race_free",
      grep: "walk",
      find: "walk",
    },
    readFile: (path, options = {}) => translated(() => readFile(path, options)),
    writeFile: (path, data, options = {}) => translated(() => writeFile(path, data, options)),
    stat: (given) =>
      translated(async () => {
        const path = await checked(given);
        const stat = await files.stat(path);
        return {
          kind: kindOf(stat),
          size: stat.size,
          mode: stat.mode & 0o7777,
          mtimeMs: stat.mtimeMs,
          canonicalPath: await realpath(path),
        };
      }),
    readdir: (given) =>
      translated(async () => {
        const path = await checked(given);
        const names = await files.readdir(path);
        return await Promise.all(
          names.map(async (name) => {
            const kind = kindOf(await files.lstat(`${path}/${name}`));
            return kind === "symlink" ? { name, kind, linkTarget: await files.readlink(`${path}/${name}`) } : { name, kind };
          }),
        );
      }),
    realpath: (given) => translated(async () => await realpath(await checked(given))),
    exec: (command, options = {}) => translated(() => exec(command, options)),
    describe: async () => ({ kind: "naive", label: `naive:${root}`, isolation: "none", warnings: [], facts: {} }),
    close: async () => {},
  };
}

function kindOf(stat: NaiveStats): FileKind {
  if (stat.isFile()) return "file";
  if (stat.isDirectory()) return "directory";
  return stat.isSymbolicLink() ? "symlink" : "unknown";
}
