import { join } from "node:path/posix";
import type { Environment } from "../../contract/target.js";
import { createMemberCheck, hostile, type Member, type SeedLimits, tooLarge } from "./archive-members.js";

export interface ReadDirectoryOptions {
  readonly limits: Required<SeedLimits>;
  readonly links: "refuse" | "skip";
  onSkipped(name: string): void;
  readonly exclude: (path: string) => boolean;
  readonly signal?: AbortSignal | undefined;
}

const READS_AT_ONCE = 8;
const SLICE = 1024 ** 2;

/** What is below a directory of another environment, of this machine for one: `openEnvironment(local("project"))`. */
export async function* readDirectory(
  source: Environment,
  directory: string,
  { limits, links, onSkipped, exclude, signal }: ReadDirectoryOptions,
): AsyncGenerator<Member> {
  const check = createMemberCheck(limits);
  const options = signal === undefined ? {} : { signal };
  const pending = [""];
  let bytes = 0;
  for (let below = pending.pop(); below !== undefined; below = pending.pop()) {
    const files: string[] = [];
    for (const { name, kind } of await source.readdir(join(directory, below), options)) {
      const path = join(below, name);
      if (exclude(path)) continue;
      if (kind === "symlink") {
        if (links === "refuse") throw hostile(path, "is a symlink: skip links, or exclude it");
        onSkipped(path);
      } else if (kind === "directory") {
        check.admit(path, "directory");
        yield { kind, path };
        pending.push(path);
      } else if (kind === "file") {
        check.admit(path, "file");
        files.push(path);
      } else throw hostile(path, `is a ${kind}, and only files and directories are taken`);
    }
    while (files.length > 0) {
      for (const member of await Promise.all(files.splice(0, READS_AT_ONCE).map(open))) {
        if (member.kind === "file") bytes += member.size;
        if (bytes > limits.maxBytes) throw tooLarge(`has more than ${limits.maxBytes} bytes`, "maxBytes", limits.maxBytes);
        yield member;
      }
    }
  }

  async function open(path: string): Promise<Member> {
    const place = join(directory, path);
    const [{ mode }, first] = await Promise.all([
      source.stat(place, options),
      source.readFile(place, { ...options, bytes: { offset: 0, length: SLICE } }),
    ]);
    const { size } = first;
    async function* content(): AsyncGenerator<Uint8Array> {
      yield first.data;
      for (let offset = first.data.byteLength; offset < size; ) {
        const { data } = await source.readFile(place, { ...options, bytes: { offset, length: SLICE } });
        if (data.byteLength === 0) return;
        offset += data.byteLength;
        yield data;
      }
    }
    return { kind: "file", path, size, executable: (mode & 0o111) !== 0, content: content() };
  }
}
