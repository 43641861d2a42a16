import { describe, expect, it } from "vitest";
import type { FindOperations, FindQuery, FindResult, FoundPath } from "../../src/contract/operations.js";
import { bindTool } from "../../src/contract/tool.js";
import { findTool } from "../../src/tools/find.js";
import { call, openMemory } from "./support.js";

const file = (path: string): FoundPath => ({ path, kind: "file" });

function answers(paths: readonly FoundPath[], more: Partial<FindResult> = {}): FindOperations & { readonly queries: FindQuery[] } {
  const queries: FindQuery[] = [];
  return {
    queries,
    async find(_, query) {
      queries.push(query);
      return { paths, limitReached: false, engine: "fd", ignoreRules: true, ...more };
    },
  };
}

const find = (operations: FindOperations, parameters: object = {}) => call(bindTool(findTool, operations), { pattern: "*", ...parameters });

describe("find", () => {
  it("shows paths, directories with a slash", async () => {
    const { text, isError, details } = await find(
      answers([{ path: "src", kind: "directory" }, file("src/a.ts"), { path: "link", kind: "symlink" }]),
    );
    expect(text).toBe("src/\nsrc/a.ts\nlink");
    expect(isError).toBe(false);
    expect(details).toEqual({ path: ".", paths: ["src/", "src/a.ts", "link"], limitReached: false, engine: "fd", ignoreRules: true });
  });

  it("P06 P08 P10 keeps odd names apart", async () => {
    const { text, details } = await find(
      answers([file("a\nb"), file("-delete"), file("it's"), file('"q"'), { path: "d\n", kind: "directory" }]),
    );
    expect(text).toBe(['"a\\nb"', "-delete", "it's", '"\\"q\\""', '"d\\n/"'].join("\n"));
    expect(details.paths).toEqual(["a\nb", "-delete", "it's", '"q"', "d\n/"]);
  });

  it("says when there are more, and only then", async () => {
    const { text, details } = await find(answers([file("a"), file("b")], { limitReached: true }), { limit: 2 });
    expect(text).toBe("a\nb\n\n[Shown: the first 2 paths; there are more. Raise limit, or narrow the pattern or the path.]");
    expect(details).toMatchObject({ truncation: { shown: 2, by: "limit" } });
    expect((await find(answers([file("a")], { limitReached: true }), { limit: 5000 })).text).toBe(
      "a\n\n[Shown: the first 1 path; there are more. Narrow the pattern or the path.]",
    );
  });

  it("stops at 50 KiB", async () => {
    const { text, details } = await find(answers(Array.from({ length: 500 }, (_, index) => file(`${index}${"x".repeat(200)}`))));
    expect(text.split("\n").at(-1)).toBe("[Shown: the first 251 paths (50 KiB is the most). Narrow the pattern or the path.]");
    expect(details).toMatchObject({ truncation: { shown: 251, total: 500, by: "bytes" } });
    expect(details.paths).toHaveLength(251);
  });

  it("says what the engine did not do, and what it passed over", async () => {
    expect((await find(answers([file("a")], { engine: "find", ignoreRules: false, skipped: 2 }))).text).toBe(
      "a\n\n[Searched with find, which does not read .gitignore: ignored files are among the results.]\n[Passed over 2 files, special or unreadable: ls shows what they are.]",
    );
  });

  it("says that nothing matches", async () => {
    expect((await find(answers([]), { pattern: "*.rs", path: "src" })).text).toBe(
      "No path in src matches *.rs. Try a wider pattern (**/*name*), or another path.",
    );
  });

  it("asks for 1,000 paths, 2,000 at most, and refuses bad arguments by schema", async () => {
    const operations = answers([]);
    await find(operations);
    await find(operations, { limit: 1e9 });
    expect(operations.queries).toEqual([
      { pattern: "*", limit: 1000 },
      { pattern: "*", limit: 2000 },
    ]);
    const tool = bindTool(findTool, operations);
    for (const bad of [{ pattern: "" }, { pattern: "*", limit: 0 }, { limit: 3 }, { pattern: "*", depth: 1 }])
      expect(tool.validate(bad).ok).toBe(false);
  });

  it("finds real files from a repaired root", async () => {
    const environment = await openMemory({ files: { "src/a.ts": "x", "src/lib/b.ts": "x", "src/c.md": "x" } });
    const run = async (parameters: object) => await call(bindTool(findTool, environment), parameters);
    expect((await run({ pattern: "*.ts" })).details.paths).toEqual(["src/a.ts", "src/lib/b.ts"]);
    expect((await run({ pattern: "src/*.ts" })).details.paths).toEqual(["src/a.ts"]);
    expect((await run({ pattern: "*.md", path: "@src" })).details).toMatchObject({ path: "src", paths: ["c.md"] });
    expect((await run({ pattern: "*", path: "sr" })).text).toBe(
      "sr does not exist. The working directory has src. Use that if you meant it, or look with ls.",
    );
  });

  it("is rendered as one line", () => {
    expect(findTool.renderCall?.({ pattern: "*.ts", path: "a\nb" }, { ansi: false })).toBe("find *.ts in a\\nb");
  });
});
