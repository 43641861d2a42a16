import { randomBytes, randomUUID } from "node:crypto";
import { GloveboxError } from "../../src/contract/errors.js";
import type { Connection, Target } from "../../src/contract/target.js";
import { createFileSystem, type FileSystem } from "./file-system.js";
import { createDisk, type MemoryDisk, type MemoryFiles } from "./files.js";
import { createJournal, type MemoryCall, type MemoryFaults } from "./journal.js";
import { type CommandRunner, type Commands, createScript } from "./script.js";
import { seedFromDirectory } from "./seed-directory.js";
import { createShell } from "./shell.js";

export interface MemoryOptions {
  /** What is there at the start. */
  readonly files?: MemoryFiles;
  /** A directory of this machine copied in at the first connect (symlinks as symlinks, special files left out). */
  readonly seedDirectory?: string;
  /** Working directory, made if missing. Default `/workspace`. */
  readonly cwd?: string;
  /** Nothing outside this directory is reached by the file verbs. Default: none, the memory is the boundary. */
  readonly root?: string;
  /** Bytes of all files and link targets. Default 64 MiB. Beyond it a write is `no_space` and the old content stays. */
  readonly maxBytes?: number;
  /** Files, directories and links. Default 10,000. */
  readonly maxFiles?: number;
  /** Behave as an account that is not root: permission bits are enforced, not only kept. Default false. */
  readonly enforceModes?: boolean;
  /** What a write does to a file with several names. Default "refuse". */
  readonly hardLinks?: "refuse" | "break";
  /** Scripted commands. Without this and `shell`, `exec` is `unsupported`; commands never reach this machine. */
  readonly exec?: Commands;
  /** A shell written in JavaScript, run in a worker thread. Needs the optional package just-bash. */
  readonly shell?: "just-bash";
  /** For people. Default `memory:`. */
  readonly label?: string;
}

/** What a memory environment has beyond the verbs: things to assert on, and ways to make trouble. */
export interface MemoryExtras extends MemoryFaults {
  /** Every call of a verb that reached this connection, oldest first (the last 10,000). */
  readonly calls: readonly MemoryCall[];
  /** The file system itself, past the verbs. */
  readonly disk: MemoryDisk;
  /** Everything below a directory (default: the working directory) as data. */
  snapshot(directory?: string): MemoryFiles;
}

const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;
const DEFAULT_MAX_FILES = 10_000;
const HOME = "/home/user";

/**
 * A file system in memory. Each call of `memory()` makes one of its own; every connection to the target shares it, and it
 * lives as long as the target does.
 */
export function memory(options: MemoryOptions = {}): Target<MemoryExtras> {
  const { cwd = "/workspace", root, label = "memory:" } = options;
  for (const [name, path] of Object.entries({ cwd, root: root ?? cwd })) {
    if (!/^(\/|(\/[^/]+)+)$/.test(path) || /\/\.\.?(\/|$)/.test(path)) {
      throw new GloveboxError(
        "invalid_argument",
        `The option ${name} must be an absolute path without "." and "..", not ${JSON.stringify(path)}.`,
      );
    }
  }
  const id = `memory:${randomUUID()}`;
  const files = createFileSystem({
    maxBytes: options.maxBytes ?? DEFAULT_MAX_BYTES,
    maxFiles: options.maxFiles ?? DEFAULT_MAX_FILES,
    enforceModes: options.enforceModes ?? false,
    hardLinks: options.hardLinks ?? "refuse",
  });
  const disk = createDisk(files, cwd);
  for (const path of [cwd, HOME, "/tmp"]) disk.put(path, { directory: true });
  disk.chmod("/tmp", 0o1777);
  seed(disk, options.files ?? {});
  let seeded: Promise<void> | undefined;
  const seedOnce = async (): Promise<void> => {
    if (options.seedDirectory !== undefined) seed(disk, await seedFromDirectory(options.seedDirectory));
  };
  return {
    kind: "memory",
    label,
    async connect() {
      seeded ??= seedOnce();
      await seeded.catch((error: unknown) => {
        seeded = undefined;
        throw error;
      });
      return connection(options, { id, label, cwd, root }, files, disk);
    },
  };
}

function seed(disk: MemoryDisk, files: MemoryFiles): void {
  for (const [path, file] of Object.entries(files)) disk.put(path, file);
}

interface Located {
  readonly id: string;
  readonly label: string;
  readonly cwd: string;
  readonly root: string | undefined;
}

function connection(options: MemoryOptions, place: Located, files: FileSystem, disk: MemoryDisk): Connection<MemoryExtras> {
  const { id, label, cwd, root } = place;
  const { calls, faults, record } = createJournal();
  const spoolDirectory = `/tmp/.glovebox-1000/spool-${randomBytes(8).toString("hex")}`;
  const runner = runnerOf(options, files, disk);
  const running = new Set<Promise<unknown>>();
  const closing = new AbortController();
  const below = (path: string, directory: string): boolean => path === directory || directory === "/" || path.startsWith(`${directory}/`);
  const allowed = (path: string): boolean => root === undefined || below(path, root) || below(path, spoolDirectory);
  const absolute = (path: string): string => (path.startsWith("/") ? path : `${cwd}/${path}`);
  const open = (): void => {
    if (!closing.signal.aborted) return;
    throw new GloveboxError("gone", "The environment is closed. Open it again: its files are still there.");
  };

  const connected: Connection<MemoryExtras> = {
    id,
    cwd,
    ...(root === undefined ? {} : { root }),
    home: HOME,
    spoolDirectory,
    capabilities: {
      exec: runner !== undefined,
      processes: false,
      symlinks: true,
      hardLinks: true,
      specialFiles: true,
      modes: true,
      durable: false,
      confinement: root === undefined ? "boundary" : "race_free",
      grep: "walk",
      find: "walk",
    },
    extras: { calls, disk, snapshot: disk.snapshot, ...faults },
    readFile: (path, asked = {}) =>
      record({ verb: "readFile", path }, asked, asked.signal, () => {
        open();
        return files.readFile(absolute(path), asked, allowed);
      }),
    writeFile(path, data, asked = {}) {
      const copy = new Uint8Array(data);
      return record({ verb: "writeFile", path, bytes: copy.byteLength }, asked, asked.signal, () => {
        open();
        const written = files.writeFile(absolute(path), copy, asked, allowed);
        if (below(written.canonicalPath, spoolDirectory)) disk.chmod(spoolDirectory, 0o700);
        return written;
      });
    },
    stat: (path, asked = {}) =>
      record({ verb: "stat", path }, asked, asked.signal, () => {
        open();
        return files.stat(absolute(path), allowed);
      }),
    readdir: (path, asked = {}) =>
      record({ verb: "readdir", path }, asked, asked.signal, () => {
        open();
        return files.readdir(absolute(path), allowed);
      }),
    realpath: (path, asked = {}) =>
      record({ verb: "realpath", path }, asked, asked.signal, () => {
        open();
        return files.realpath(absolute(path), allowed);
      }),
    async describe() {
      return {
        kind: "memory",
        label,
        isolation: isolation(options),
        warnings:
          options.shell === undefined ? [] : ["just-bash is an imitation of bash: no background processes, no binary bytes in pipes"],
        facts: { bytes: files.used.bytes, files: files.used.files, maxBytes: options.maxBytes ?? DEFAULT_MAX_BYTES },
      };
    },
    async close() {
      closing.abort(new GloveboxError("gone", "The environment was closed while the command ran; the command was ended."));
      await Promise.allSettled(running);
      await runner?.close();
      disk.remove(spoolDirectory);
    },
  };
  if (runner === undefined) return connected;
  return {
    ...connected,
    exec(command, asked = {}) {
      const path = absolute(asked.cwd ?? cwd);
      const { cwd: _, ...rest } = asked;
      const run = record({ verb: "exec", path, command }, rest, asked.signal, () => {
        open();
        checkDirectory(files, path);
        const signal = AbortSignal.any([closing.signal, ...(asked.signal ? [asked.signal] : [])]);
        return runner.run(command, { ...asked, cwd: path, signal });
      });
      running.add(run);
      const done = (): boolean => running.delete(run);
      run.then(done, done);
      return run;
    },
  };
}

function checkDirectory(files: FileSystem, path: string): void {
  let kind: string | undefined;
  try {
    kind = files.stat(path, () => true).kind;
  } catch {
    kind = undefined;
  }
  if (kind === "directory") return;
  throw new GloveboxError("not_started", "The working directory is not there. Choose one that exists.", { path, retrySafe: true });
}

function runnerOf({ exec, shell }: MemoryOptions, files: FileSystem, disk: MemoryDisk): CommandRunner | undefined {
  if (exec !== undefined && shell !== undefined) {
    throw new GloveboxError("invalid_argument", "Give either the option exec or the option shell, not both.");
  }
  if (exec !== undefined) return createScript(exec, disk);
  return shell === undefined ? undefined : createShell(files, disk, HOME);
}

function isolation({ exec, shell }: MemoryOptions): string {
  if (shell !== undefined)
    return "memory: commands run in a JavaScript shell in a worker thread, on files in memory, without processes or network";
  return exec === undefined
    ? "memory: no commands run, no disk or network is touched"
    : "memory: commands are scripted, no disk or network is touched";
}
