import { afterEach, describe, expect, it, vi } from "vitest";
import type { MemoryFiles } from "../../adapters/memory/index.js";
import { abortError, GloveboxError } from "../../src/contract/errors.js";
import type { GrepLine, GrepOperations, GrepQuery, GrepResult } from "../../src/contract/operations.js";
import { bindTool } from "../../src/contract/tool.js";
import { grepTool } from "../../src/tools/grep.js";
import { call, openMemory } from "./support.js";

const match = (path: string, line: number, text = "hit", more: Partial<GrepLine> = {}): GrepLine => ({
  path,
  line,
  text,
  kind: "match",
  ...more,
});
const around = (path: string, line: number, text = "near"): GrepLine => ({ path, line, text, kind: "context" });

/** Operations that answer with these lines. */
function answers(lines: readonly GrepLine[], more: Partial<GrepResult> = {}): GrepOperations & { readonly queries: GrepQuery[] } {
  const queries: GrepQuery[] = [];
  return {
    queries,
    async grep(_, query) {
      queries.push(query);
      const matches = lines.filter(({ kind }) => kind === "match").length;
      return { lines, matches, limitReached: false, engine: "ripgrep", ignoreRules: true, ...more };
    },
  };
}

const grep = (operations: GrepOperations, parameters: object = {}) =>
  call(bindTool(grepTool, operations), { pattern: "hit", ...parameters });

afterEach(() => {
  vi.useRealTimers();
});

describe("grep, shown", () => {
  it("is path:line: text", async () => {
    const { text, isError, details } = await grep(answers([match("src/a.ts", 3, "  hit();"), match("b", 12)]));
    expect(text).toBe("src/a.ts:3:   hit();\nb:12: hit");
    expect(isError).toBe(false);
    expect(details).toEqual({ path: ".", matches: 2, files: 2, limitReached: false, engine: "ripgrep", ignoreRules: true });
  });

  it("is path-line- text for context, -- between what does not touch", async () => {
    const lines = [around("a", 1), match("a", 2), around("a", 3), around("a", 7), match("a", 8), match("b", 9), around("b", 10)];
    expect((await grep(answers(lines), { context: 1 })).text).toBe(
      "a-1- near\na:2: hit\na-3- near\n--\na-7- near\na:8: hit\n--\nb:9: hit\nb-10- near",
    );
  });

  it("P06 P07 quotes names that would read as something else", async () => {
    const names = ["a\nb", "x:1: y", "x-2-y", "C:\\x", "\x1b[31m", "-n", "it's"];
    expect((await grep(answers(names.map((name) => match(name, 1))))).text).toBe(
      ['"a\\nb":1: hit', '"x:1: y":1: hit', '"x-2-y":1: hit', "C:\\x:1: hit", '"\\u001b[31m":1: hit', "-n:1: hit", "it's:1: hit"].join(
        "\n",
      ),
    );
  });

  it("says when there are more matches than the limit, and only then", async () => {
    const { text, details } = await grep(answers([match("a", 1), match("a", 2)], { limitReached: true }), { limit: 2 });
    expect(text).toBe(
      "a:1: hit\na:2: hit\n\n[Shown: the first 2 matches; there are more. Raise limit, or narrow the pattern, path or glob.]",
    );
    expect(details).toMatchObject({ limitReached: true, truncation: { shown: 2, by: "limit" } });
  });

  it("stops at 2,000 lines or 50 KiB", async () => {
    const many = Array.from({ length: 1000 }, (_, index) => [around("a", index * 3 + 1), match("a", index * 3 + 2)]).flat();
    const lines = await grep(answers(many), { context: 1 });
    expect(lines.text.split("\n")).toHaveLength(2002);
    expect(lines.text.split("\n").at(-1)).toBe(
      "[Shown: the first 2,000 lines of the results (2,000 lines is the most). Narrow the pattern, path or glob.]",
    );
    const long = Array.from({ length: 200 }, (_, index) => match("a", index + 1, "x".repeat(500)));
    const bytes = await grep(answers(long));
    expect(bytes.text.split("\n").at(-1)).toBe(
      "[Shown: the first 101 lines of the results (50 KiB is the most). Narrow the pattern, path or glob.]",
    );
    expect(bytes.details).toMatchObject({ truncation: { shown: 101, total: 200, by: "bytes" } });
  });

  it("says which lines were cut", async () => {
    const { text, details } = await grep(answers([match("a", 1, "x".repeat(500), { cut: true }), match("a", 2)]));
    expect(text).toBe(`a:1: ${"x".repeat(500)}…\na:2: hit\n\n[1 line cut at 500 characters and marked …: read the file to see more.]`);
    expect(details).toMatchObject({ cutLines: 1 });
  });

  it("says what the engine did not do, and what it passed over", async () => {
    expect((await grep(answers([match("a", 1)], { engine: "grep", ignoreRules: false, skipped: 3 }))).text).toBe(
      "a:1: hit\n\n[Searched with grep, which does not read .gitignore: ignored files are among the results.]\n[Passed over 3 files, special or unreadable: ls shows what they are.]",
    );
    expect((await grep(answers([match("a", 1)], { engine: "walk", ignoreRules: false, skipped: 1 }))).text).toBe(
      "a:1: hit\n\n[Searched with a plain walk, which does not read .gitignore: ignored files are among the results.]\n[Passed over 1 file, special or unreadable: ls shows what they are.]",
    );
  });

  it("says that nothing matches", async () => {
    const { text, isError, details } = await grep(answers([]), { path: "src" });
    expect(text).toBe("No match for hit in src. Try another spelling, ignoreCase, literal, or a wider path or glob.");
    expect(isError).toBe(false);
    expect(details).toMatchObject({ matches: 0, files: 0 });
  });
});

describe("grep, asked", () => {
  it("passes everything on, with its own limits", async () => {
    const operations = answers([]);
    await grep(operations);
    await grep(operations, { glob: "*.ts", ignoreCase: true, literal: "true", context: "2", limit: 9999 });
    expect(operations.queries).toEqual([
      { pattern: "hit", limit: 100, maxLineLength: 500 },
      { pattern: "hit", limit: 2000, maxLineLength: 500, literal: true, ignoreCase: true, glob: "*.ts", context: 2 },
    ]);
  });

  it.each([{ limit: 0 }, { limit: 1.5 }, { context: -1 }, { pattern: 7 }, { literal: "yes" }])("refuses %j by schema", (parameters) => {
    expect(bindTool(grepTool, answers([])).validate({ pattern: "x", ...parameters }).ok).toBe(false);
  });
});

describe("grep, real files", () => {
  const files: MemoryFiles = {
    "src/a.ts": "one\ntwo\nthree\n",
    "src/b.md": "two\n",
    bin: new Uint8Array([0x74, 0x77, 0x6f, 0]),
    "-e": "two\n",
    pipe: { special: "fifo" },
  };
  const run = async (parameters: object) => await call(bindTool(grepTool, await openMemory({ files })), parameters);

  it("P08 P24 searches text files, passes the others over, takes the pattern literally as a pattern", async () => {
    const { text } = await run({ pattern: "two" });
    expect(text.split("\n").slice(0, 3)).toEqual(["-e:1: two", "src/a.ts:2: two", "src/b.md:1: two"]);
    expect((await run({ pattern: "--pre=/abs/x", literal: true })).text).toContain("No match for --pre=/abs/x in .");
  });

  it("searches from a repaired root, and names what is there when it is missing", async () => {
    expect((await run({ pattern: "two", path: "@src", glob: "*.ts" })).text).toContain("a.ts:2: two");
    expect((await run({ pattern: "two", path: "@src" })).text).toMatch(/\n\[@src does not exist; src was used\.\]$/);
    expect((await run({ pattern: "two", path: "srx" })).text).toBe(
      "srx does not exist. The working directory has src. Use that if you meant it, or look with ls.",
    );
  });

  it("is an error for a bad pattern, and for an empty path", async () => {
    expect((await run({ pattern: "(" })).details).toMatchObject({ error: { code: "invalid_argument" } });
    expect((await run({ pattern: "x", path: "" })).details).toMatchObject({ error: { code: "invalid_argument" } });
  });
});

describe("grep, long", () => {
  it("reports what it found so far, then that it is still at it", async () => {
    vi.useFakeTimers();
    const operations: GrepOperations = {
      async grep(_, _query, options) {
        options?.onBatch?.([match("a", 1), around("a", 2)]);
        options?.onBatch?.([match("b", 1)]);
        await vi.advanceTimersByTimeAsync(1500);
        return { lines: [], matches: 0, limitReached: false, engine: "walk", ignoreRules: true };
      },
    };
    const { updates } = await grep(operations);
    expect(updates).toEqual([
      "Searching .: 1 matching line so far.",
      "Searching .: 2 matching lines so far.",
      "Searching .: 2 matching lines so far.",
    ]);
  });

  it("L19 gives up after a minute, and settles when the search has", async () => {
    vi.useFakeTimers();
    const operations: GrepOperations = {
      grep: async (_, _query, options) =>
        await new Promise<never>((_resolve, reject) => {
          options?.signal?.addEventListener("abort", () => reject(abortError(options.signal as AbortSignal, { verb: "grep" })));
          void vi.advanceTimersByTimeAsync(60_001);
        }),
    };
    const { text, isError, details } = await grep(operations, { pattern: "(a+)+$" });
    expect(text).toBe("The search took more than 60 seconds and was stopped. Give a simpler pattern, a smaller path, or a glob.");
    expect(isError).toBe(true);
    expect(details).toMatchObject({ error: { code: "timeout", verb: "grep" } });
  });

  it("passes the target's errors on", async () => {
    const failing: GrepOperations = {
      grep: async () => {
        throw new GloveboxError("disconnected", "The link is gone.", { retrySafe: true });
      },
    };
    expect((await grep(failing)).details).toMatchObject({ error: { code: "disconnected", retrySafe: true } });
  });
});

describe("grep, rendering", () => {
  it("is one line", () => {
    expect(grepTool.renderCall?.({ pattern: "a\tb" }, { ansi: false })).toBe("grep /a\\tb/");
    expect(grepTool.renderCall?.({ pattern: "x", path: "src", glob: "*.ts" }, { ansi: false })).toBe("grep /x/ in src (*.ts)");
  });
});
