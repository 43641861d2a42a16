import { type Environment, GloveboxError } from "../index.js";

/** What travels at once, and what is in memory of a file however large. */
const SLICE_BYTES = 1024 * 1024;

/**
 * A file from its first byte to its last, a slice of 1 MiB at a time. Rejects what `readFile` rejects, and `conflict` when
 * the file's size changed on the way: its end would not belong to its beginning.
 */
export async function* readSlices(
  environment: Pick<Environment, "readFile">,
  path: string,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let size: number | undefined;
  for (let offset = 0; size === undefined || offset < size; ) {
    const slice = await environment.readFile(path, { bytes: { offset, length: SLICE_BYTES }, signal });
    size ??= slice.size;
    if (slice.size !== size || (slice.data.length === 0 && offset < size)) throw changed(path);
    if (slice.data.length > 0) yield slice.data;
    offset += slice.data.length;
  }
}

function changed(path: string): GloveboxError {
  return new GloveboxError("conflict", `${JSON.stringify(path)} changed while it was read. Read it again.`, {
    retrySafe: true,
    verb: "readFile",
    path,
  });
}
