import { Readable } from "node:stream";
import type { Header } from "tar-stream";
import { GloveboxError } from "../../contract/errors.js";
import { messageOf } from "../ground.js";
import { archiveBytes, type Bytes, zerosAfter } from "./archive-bytes.js";
import { createMemberCheck, hostile, type Member, type SeedLimits } from "./archive-members.js";

export interface ReadArchiveOptions {
  readonly limits: Required<SeedLimits>;
  /** "skip": symlinks and hard links are left out and told. "refuse": the archive is. */
  readonly links: "refuse" | "skip";
  onSkipped(name: string): void;
}

const BLOCK = 512;

/**
 * The members of a tar, plain or gzipped, in their order, each checked before it is given out. Throws `invalid_argument` for
 * a link, a device, a FIFO, a name that leads elsewhere or comes twice, a sparse file, and for what is damaged or cut short, the
 * end mark included; `too_large` beyond a limit. Whoever reads has to throw away what came before.
 */
export async function* readArchive(source: Bytes, { limits, links, onSkipped }: ReadArchiveOptions): AsyncGenerator<Member> {
  const { extract: createExtract } = await import("tar-stream");
  const check = createMemberCheck(limits);
  const count = { trailingZeros: 0, sinceMember: 0 };
  // Zeros that the last member itself ends with, its padding included.
  let ownZeros = 0;
  const extract = createExtract();
  const bytes = Readable.from(archiveBytes(source, limits, count), { objectMode: false });
  let broken: Error | undefined;
  bytes.on("error", (error) => {
    broken = error;
    extract.destroy(error);
  });
  const explain = (error: unknown): unknown => broken ?? (error instanceof GloveboxError ? error : damaged(messageOf(error), error));
  bytes.pipe(extract);
  try {
    for await (const entry of extract) {
      const { header } = entry;
      count.sinceMember = 0;
      checkType(header);
      const { name, type, size = 0 } = header;
      ownZeros = 0;
      if (type === "symlink" || type === "link") {
        if (links === "refuse")
          throw hostile(name, `is a ${type === "link" ? "hard link" : "symlink"}: make the archive without links, or skip them`);
        if (size > 0) throw hostile(name, "is a link with content");
        onSkipped(name);
      } else if (type === "directory") {
        if (size > 0) throw hostile(name, "is a directory with content");
        const path = check.admit(name, "directory");
        if (path !== "") yield { kind: "directory", path };
      } else {
        const path = check.admit(name, "file");
        yield { kind: "file", path, size, executable: ((header.mode ?? 0) & 0o111) !== 0, content: content() };
        ownZeros += (BLOCK - (size % BLOCK)) % BLOCK;
      }
      entry.resume();

      async function* content(): AsyncGenerator<Uint8Array> {
        try {
          for await (const chunk of entry) {
            count.sinceMember = 0;
            ownZeros = zerosAfter(chunk as Uint8Array, ownZeros);
            yield chunk as Uint8Array;
          }
        } catch (error) {
          throw explain(error);
        }
      }
    }
    if (count.trailingZeros - ownZeros < 2 * BLOCK) throw damaged("it has no end mark, so that it may be cut short");
  } catch (error) {
    throw explain(error);
  } finally {
    extract.destroy();
    bytes.destroy();
  }
}

function checkType({ name, type, size = 0, pax }: Header): void {
  if (!Number.isSafeInteger(size) || size < 0 || Object.is(size, -0)) throw hostile(name, "has no possible size");
  const isKnown = type === "file" || type === "contiguous-file" || type === "directory" || type === "symlink" || type === "link";
  if (!isKnown) throw hostile(name, `is a ${type ?? "thing of no known kind"}, and only files and directories are taken`);
  const sparse = pax !== undefined && pax !== null && Object.keys(pax).some((key) => key.startsWith("GNU.sparse"));
  if (sparse) throw hostile(name, "is a sparse file: make the archive without --sparse");
}

function damaged(why: string, cause?: unknown): GloveboxError {
  const message = `The seed is refused: it is no tar or gzipped tar, or a damaged one (${why.replace(/\.$/, "")}). Make the archive again.`;
  return new GloveboxError("invalid_argument", message, { retrySafe: true, cause });
}
