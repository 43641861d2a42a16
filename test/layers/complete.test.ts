import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/memory/index.js";
import type { GrepResult } from "../../src/contract/operations.js";
import type { Connection, Target } from "../../src/contract/target.js";
import { openEnvironment } from "../../src/environment.js";
import { changed } from "./scripted.js";

const GREPPED: GrepResult = { lines: [], matches: 0, limitReached: false, engine: "ripgrep", ignoreRules: true };

describe("complete", () => {
  it("leaves to the adapter what the adapter can do, arguments and all", async () => {
    const seen: unknown[] = [];
    const note = async <Result>(result: Result, ...given: readonly unknown[]): Promise<Result> => {
      seen.push(given);
      return result;
    };
    const target = changed(memory(), () => ({
      exec: (command, options) => note({ exitCode: 7 }, command, options),
      grep: (root, query, options) => note(GREPPED, root, query, options),
      find: (root, query, options) =>
        note({ paths: [], limitReached: false, engine: "fd" as const, ignoreRules: true }, root, query, options),
    }));
    const environment = await openEnvironment(target);
    const options = { onBatch() {} };
    expect(await environment.exec("ls", { env: { A: "1" } })).toEqual({ exitCode: 7 });
    expect((await environment.grep("a", { pattern: "x", limit: 1 }, options)).engine).toBe("ripgrep");
    expect((await environment.find("a", { pattern: "x", limit: 1 }, options)).engine).toBe("fd");
    expect(seen).toEqual([
      ["ls", { env: { A: "1" }, cwd: "/workspace" }],
      ["/workspace/a", { pattern: "x", limit: 1 }, options],
      ["/workspace/a", { pattern: "x", limit: 1 }, options],
    ]);
  });

  it("takes a connection that is a class, too", async () => {
    const inner = await memory({ files: { a: "x" } }).connect({});
    class Counting implements Pick<Connection, "stat" | "describe" | "close"> {
      readonly #stats: string[] = [];
      async stat(path: string) {
        this.#stats.push(path);
        return await inner.stat(path);
      }
      async describe() {
        return { ...(await inner.describe()), facts: { stats: this.#stats.length } };
      }
      async close() {
        this.#stats.length = 0;
      }
    }
    const { id, cwd, spoolDirectory, capabilities, readFile, writeFile, readdir, realpath } = inner;
    const connection = Object.assign(new Counting(), { id, cwd, spoolDirectory, capabilities, readFile, writeFile, readdir, realpath });
    const target: Target = { kind: "class", label: "class:", connect: async () => connection };
    await using environment = await openEnvironment(target);
    expect((await environment.stat("a")).size).toBe(1);
    expect((await environment.describe()).facts).toEqual({ stats: 1 });
  });
});
