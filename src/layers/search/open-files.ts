import { GloveboxError } from "../../contract/errors.js";
import type { FileRead } from "../../contract/operations.js";
import { compileGlob } from "./glob.js";
import { join, passOver, type SearchPlace, type Walked } from "./place.js";
import { openWalk } from "./walk.js";

/** Larger files are not searched. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;

/** A NUL among this many first bytes makes a file binary. */
const SNIFFED_BYTES = 8 * 1024;

export interface OpenFile {
  /** Relative to the search root; the root's own name when that is a file. */
  readonly path: string;
  /** On its way already. Undefined for what is not searched: special, binary, unreadable, too large. */
  readonly content: Promise<string | undefined>;
}

interface OpenFiles {
  readonly files: AsyncIterable<OpenFile>;
  /** Directories that could not be listed, so far. */
  unreadable(): number;
}

/** The files under `root` that match `glob`, in order; or `root` itself, when it is a file. */
export async function openFiles(place: SearchPlace, root: string, glob: string | undefined, signal?: AbortSignal): Promise<OpenFiles> {
  const read = (path: string): Promise<FileRead> => place.files.readFile(path, { bytes: { offset: 0, length: MAX_FILE_BYTES }, signal });
  const wanted = glob === undefined ? undefined : compileGlob(glob);
  const walk = await openWalk(place, root, signal).catch(unlessFile);

  async function* alone(): AsyncGenerator<OpenFile> {
    yield { path: root.slice(root.lastIndexOf("/") + 1), content: read(root).then(textOf) };
  }
  async function* below(walked: AsyncIterable<Walked>): AsyncGenerator<OpenFile> {
    for await (const { path, kind } of walked) {
      if (kind === "directory" || kind === "symlink" || wanted?.({ path, kind }) === false) continue;
      const content = kind === "file" ? read(join(root, path)).then(textOf).catch(passOver) : Promise.resolve(undefined);
      // Looked at in its turn, or never when the search ends before that: not to count as unhandled.
      content.catch(() => undefined);
      yield { path, content };
    }
  }
  if (walk === undefined) return { files: alone(), unreadable: () => 0 };
  return { files: below(walk), unreadable: () => walk.unreadable };
}

function unlessFile(error: unknown): undefined {
  if (!(error instanceof GloveboxError && error.code === "not_directory")) throw error;
}

function textOf({ data, size }: FileRead): string | undefined {
  if (size > data.byteLength || data.subarray(0, SNIFFED_BYTES).includes(0)) return undefined;
  return new TextDecoder().decode(data);
}
