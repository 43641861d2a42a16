import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type MemoryExtras, memory } from "../../../adapters/memory/index.js";
import type { Environment } from "../../../src/contract/target.js";
import { openEnvironment } from "../../../src/environment.js";
import { kernel, type Seen } from "./oracle.js";

type Step =
  | { readonly do: "write"; readonly path: string; readonly text: string }
  | { readonly do: "symlink"; readonly path: string; readonly target: string }
  | { readonly do: "remove"; readonly path: string }
  | { readonly do: "look"; readonly path: string };

const name = fc.constantFrom("a", "b", "c", "e\u0301", "__proto__");
const component = fc.oneof({ weight: 6, arbitrary: name }, { weight: 1, arbitrary: fc.constantFrom(".", "..", "") });
const path = fc
  .tuple(fc.array(component, { minLength: 1, maxLength: 5 }), fc.constantFrom("", "", "", "/"))
  .map(([parts, end]) => parts.join("/").replace(/^\/+/, "") + end)
  .filter((text) => text !== "");
/** Names one thing in a directory without following anything on the way: what the scene is set with. */
const plainPath = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/"));

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("write" as const), path, text: fc.string({ maxLength: 8 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("symlink" as const), path: plainPath, target: path }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("remove" as const), path: plainPath }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("look" as const), path }) },
);

async function asked(run: Promise<unknown>): Promise<Seen> {
  return await run.then(
    (value) => ({ value }),
    (error: { readonly code: string }) => ({ code: error.code }),
  );
}

/** The memory file system lives at the same path as the oracle's directory, so that absolute paths can be compared. */
class Pair {
  readonly #environment: Environment & MemoryExtras;
  readonly #base: string;

  constructor(environment: Environment & MemoryExtras, base: string) {
    this.#environment = environment;
    this.#base = base;
  }

  async take(next: Step): Promise<void> {
    const path = `${this.#base}/${next.path}`;
    if (next.do === "write") await this.#write(path, next.text);
    else if (next.do === "look") await this.#look(path);
    else if (this.#isPlain(next.path)) {
      if (next.do === "remove") {
        this.#environment.disk.remove(path);
        kernel.remove(path);
      } else {
        this.#environment.disk.put(path, { symlink: next.target });
        kernel.symlink(next.target, path);
      }
    }
    await this.#look(this.#base);
  }

  /** Whether all parents are directories or missing: setting a scene through a symlink is not under test. */
  #isPlain(relative: string): boolean {
    const parts = relative.split("/");
    return parts.slice(0, -1).every((_, depth) => {
      const itself = kernel.itself(`${this.#base}/${parts.slice(0, depth + 1).join("/")}`);
      return itself === "directory" || itself === "absent";
    });
  }

  async #write(path: string, text: string): Promise<void> {
    const before = kernel.place(path);
    const outcome = await asked(this.#environment.writeFile(path, new TextEncoder().encode(text)));
    if ("value" in outcome) {
      const { canonicalPath, created } = outcome.value as { readonly canonicalPath: string; readonly created: boolean };
      expect(before).toBe(created ? "absent" : "file");
      kernel.write(canonicalPath, text);
      expect(kernel.realpath(path)).toEqual({ value: canonicalPath });
      expect(kernel.read(path)).toEqual({ value: text });
    } else if (outcome.code === "is_directory") expect(before === "directory" || /(^|\/)\.{0,2}$/.test(path)).toBe(true);
    else if (outcome.code === "not_found") expect(before).toBe("absent");
    else if (outcome.code !== "outside_root") expect(before).toBe(outcome.code);
  }

  async #look(path: string): Promise<void> {
    const environment = this.#environment;
    const read = await asked(environment.readFile(path).then(({ data }) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(data)));
    if ("code" in read && read.code === "outside_root") return;
    expect(read).toEqual(kernel.read(path));
    const stat = environment.stat(path).then(({ kind, size, canonicalPath }) => ({
      kind,
      size: kind === "file" ? size : undefined,
      canonicalPath,
    }));
    expect(await asked(stat)).toEqual(kernel.stat(path));
    const list = environment.readdir(path).then((entries) => [...entries].sort((a, b) => (a.name < b.name ? -1 : 1)));
    const listed = await asked(list);
    if (!JSON.stringify(listed).includes("symlink")) expect(listed).toEqual(kernel.list(path));
    else expect(withoutLinkKinds(listed)).toEqual(withoutLinkKinds(kernel.list(path)));
    const real = kernel.realpath(path);
    const answer = await asked(environment.realpath(path));
    if ("value" in real) expect(answer).toEqual(real);
    else if (real.code === "loop") expect(answer).toEqual(real);
    else expect(answer).toHaveProperty("value");
  }
}

/** A link out of the root has none in memory, and has one for the kernel. */
function withoutLinkKinds(listed: Seen): unknown {
  return "value" in listed ? (listed.value as readonly object[]).map((entry) => ({ ...entry, linkKind: undefined })) : listed;
}

describe("M01 the memory file system against this machine's kernel", () => {
  it("answers as the kernel does, whatever is written, linked and removed", { timeout: 120_000 }, async () => {
    const scratch = realpathSync(mkdtempSync(join(tmpdir(), "glovebox-model-")));
    let run = 0;
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
          run += 1;
          const base = `${scratch}/${run}`;
          mkdirSync(base);
          await using environment = await openEnvironment(memory({ cwd: base, root: base }));
          const pair = new Pair(environment, base);
          for (const each of steps) await pair.take(each);
        }),
        { numRuns: 150 },
      );
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  });
});
