import { createHash } from "node:crypto";
import { type Entry, type Environment, GloveboxError, withFileMutationQueue } from "../../index.js";
import { readSlices } from "../read-slices.js";
import { type PiBashOperations, piBash } from "./bash-operations.js";
import { IMAGE_HEAD_BYTES, imageTypeOf } from "./image-type.js";

/*
 * The shapes are those of @earendil-works/pi-coding-agent, written out: they are small, and that package is not.
 * test/integrations/pi holds them against the published types.
 */

export interface PiReadOperations {
  readFile(path: string): Promise<Buffer>;
  access(path: string): Promise<void>;
  detectImageMimeType(path: string): Promise<string | null>;
  createReadStream(path: string, options: { readonly signal?: AbortSignal }): AsyncIterable<Uint8Array>;
}

export interface PiWriteOperations {
  writeFile(path: string, content: string): Promise<void>;
  mkdir(directory: string): Promise<void>;
}

export interface PiEditOperations {
  readFile(path: string): Promise<Buffer>;
  writeFile(path: string, content: string): Promise<void>;
  access(path: string): Promise<void>;
}

export interface PiGrepOperations {
  isDirectory(path: string): Promise<boolean>;
  readFile(path: string): Promise<string>;
}

export interface PiFindOperations {
  exists(path: string): Promise<boolean>;
  glob(pattern: string, cwd: string, options: { readonly ignore: readonly string[]; readonly limit: number }): Promise<string[]>;
}

export interface PiLsOperations {
  exists(path: string): Promise<boolean>;
  stat(path: string): Promise<{ isDirectory(): boolean }>;
  readdir(path: string): Promise<string[]>;
}

export interface PiOperations {
  readonly read: PiReadOperations;
  readonly write: PiWriteOperations;
  readonly edit: PiEditOperations;
  readonly bash: PiBashOperations;
  /** Tells a directory from a file, and that is all: Pi's own grep searches the machine that Pi runs on, whatever it is given. */
  readonly grep: PiGrepOperations;
  readonly find: PiFindOperations;
  readonly ls: PiLsOperations;
}

/**
 * What Pi's own tools need, acting on `environment`: `createReadTool(environment.cwd, { operations: operations.read })`.
 * Writes are atomic and wait for their turn among all writers of the file; an edit fails with `conflict` when somebody
 * else changed the file since it was read; ls asks once for a whole directory. The host's environment stays here.
 * Rejects with GloveboxErrors, but for the two words that Pi looks for: `aborted` and `timeout:SECONDS`.
 */
export function piOperations(environment: Environment): PiOperations {
  const readFile = async (path: string): Promise<Buffer> => toBuffer((await environment.readFile(path)).data);
  // A read of nothing says whether a read would do, in one trip.
  const access = async (path: string): Promise<void> => {
    await environment.readFile(path, { bytes: { offset: 0, length: 0 } });
  };
  const exists = (path: string): Promise<boolean> =>
    environment.stat(path).then(
      () => true,
      (error: unknown) => {
        if (error instanceof GloveboxError && error.code === "not_found") return false;
        throw error;
      },
    );
  const isDirectory = async (path: string): Promise<boolean> => (await environment.stat(path)).kind === "directory";
  return {
    read: {
      readFile,
      access,
      async detectImageMimeType(path) {
        return imageTypeOf((await environment.readFile(path, { bytes: { offset: 0, length: IMAGE_HEAD_BYTES } })).data);
      },
      createReadStream: (path, { signal }) => readSlices(environment, path, signal),
    },
    write: {
      async writeFile(path, content) {
        await withFileMutationQueue(environment, path, () => environment.writeFile(path, Buffer.from(content)));
      },
      // writeFile makes them, in the same trip.
      mkdir: async () => undefined,
    },
    edit: { ...piEdit(environment), access },
    bash: piBash(environment),
    grep: { isDirectory, readFile: async (path) => (await readFile(path)).toString() },
    find: { exists, glob: (pattern, cwd, { ignore, limit }) => glob(environment, pattern, cwd, ignore, limit) },
    ls: piLs(environment, exists, isDirectory),
  };
}

/** Reads whose edit never came to a write; beyond these the oldest is forgotten, and its write would not be guarded. */
const MAX_PENDING_EDITS = 1_000;

/** A write is bound to what the read before it saw. */
function piEdit(environment: Environment): Pick<PiEditOperations, "readFile" | "writeFile"> {
  const seen = new Map<string, string>();
  return {
    async readFile(path) {
      const { data } = await environment.readFile(path);
      seen.delete(path);
      seen.set(path, createHash("sha256").update(data).digest("hex"));
      for (const oldest of seen.keys()) if (seen.size > MAX_PENDING_EDITS) seen.delete(oldest);
      return toBuffer(data);
    },
    async writeFile(path, content) {
      const ifMatch = seen.get(path);
      seen.delete(path);
      await withFileMutationQueue(environment, path, () => environment.writeFile(path, Buffer.from(content), { ifMatch }));
    },
  };
}

/** Pi asks for the kind of every entry by itself: what the listing knows is told once, and forgotten when the next one begins. */
function piLs(environment: Environment, exists: PiLsOperations["exists"], isDirectory: (path: string) => Promise<boolean>): PiLsOperations {
  const listed = new Map<string, boolean>();
  return {
    async exists(path) {
      listed.clear();
      return await exists(path);
    },
    async stat(path) {
      const known = listed.get(path);
      listed.delete(path);
      const directory = known ?? (await isDirectory(path));
      return { isDirectory: () => directory };
    },
    async readdir(path) {
      const entries = await environment.readdir(path);
      for (const entry of entries) {
        const kind = kindBehind(entry);
        if (kind !== undefined) listed.set(`${path === "/" ? "" : path}/${entry.name}`, kind === "directory");
      }
      return entries.map(({ name }) => name);
    },
  };
}

/** Undefined for a link that leads nowhere: a stat rejects, and Pi leaves it out. */
function kindBehind({ kind, linkKind }: Entry): string | undefined {
  return kind === "symlink" ? linkKind : kind;
}

/** Most paths that are looked at to find `limit` that are not ignored. */
const MAX_FOUND = 100_000;

async function glob(environment: Environment, pattern: string, cwd: string, ignore: readonly string[], limit: number): Promise<string[]> {
  const names = ignoredNames(ignore);
  const isIgnored = (path: string): boolean => path.split("/").some((part) => names.has(part));
  for (let wanted = limit; ; wanted = Math.min(wanted * 4, MAX_FOUND)) {
    const { paths, limitReached } = await environment.find(cwd, { pattern, limit: wanted });
    const kept = paths.filter(({ path }) => !isIgnored(path));
    if (kept.length >= limit || !limitReached || wanted === MAX_FOUND) {
      return kept.slice(0, limit).map(({ path, kind }) => (kind === "directory" ? `${path}/` : path));
    }
  }
}

/** The names in patterns that leave out everything below a directory of that name, the form that Pi uses. Others only hide noise: they are passed over. */
function ignoredNames(ignore: readonly string[]): ReadonlySet<string> {
  return new Set(ignore.flatMap((pattern) => /^\*\*\/([^/*?[\]{}!]+)\/\*\*$/.exec(pattern)?.[1] ?? []));
}

function toBuffer(data: Uint8Array): Buffer {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}
