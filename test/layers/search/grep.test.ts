import { describe, expect, it } from "vitest";
import { type MemoryFiles, memory } from "../../../adapters/memory/index.js";
import { GloveboxError } from "../../../src/contract/errors.js";
import type { GrepLine, GrepQuery, GrepResult } from "../../../src/contract/operations.js";
import { openEnvironment } from "../../../src/environment.js";
import { portableGrep } from "../../../src/layers/search/portable-grep.js";
import { changed } from "../scripted.js";

async function grep(files: MemoryFiles, query: Partial<GrepQuery> & { readonly pattern: string }, root = "."): Promise<GrepResult> {
  const environment = await openEnvironment(memory({ files }));
  return await environment.grep(root, { limit: 100, ...query });
}

/** As ripgrep prints it: `path:line:text`, context with dashes. */
async function printed(...args: Parameters<typeof grep>): Promise<readonly string[]> {
  const { lines } = await grep(...args);
  return lines.map(({ path, line, text, kind, cut }) => [path, line, `${text}${cut ? "…" : ""}`].join(kind === "match" ? ":" : "-"));
}

describe("portable grep", () => {
  it("finds lines by regular expression, file by file in order", async () => {
    const files = { "b.txt": "one\ntwo\n", "a/z.txt": "two", "a.txt": "x\ntwo" };
    expect(await grep(files, { pattern: "^tw." })).toEqual({
      lines: [
        { path: "a.txt", line: 2, text: "two", kind: "match" },
        { path: "a/z.txt", line: 1, text: "two", kind: "match" },
        { path: "b.txt", line: 2, text: "two", kind: "match" },
      ],
      matches: 3,
      limitReached: false,
      engine: "walk",
      ignoreRules: true,
      skipped: 0,
    });
  });

  it("takes text literally, and either without regard to case", async () => {
    const files = { f: "a.b\naxb\nA.B\n(x)*\n" };
    expect(await printed(files, { pattern: "a.b", literal: true })).toEqual(["f:1:a.b"]);
    expect(await printed(files, { pattern: "a.b", literal: true, ignoreCase: true })).toEqual(["f:1:a.b", "f:3:A.B"]);
    expect(await printed(files, { pattern: "a.b", ignoreCase: true })).toEqual(["f:1:a.b", "f:2:axb", "f:3:A.B"]);
    expect(await printed(files, { pattern: "(?i)A\\.b" })).toEqual(["f:1:a.b", "f:3:A.B"]);
    expect(await printed(files, { pattern: "(x)*", literal: true })).toEqual(["f:4:(x)*"]);
    expect(await printed(files, { pattern: "^\\p{Lu}" })).toEqual(["f:3:A.B"]);
    expect(await printed(files, { pattern: "a\\-?" })).toEqual(["f:1:a.b", "f:2:axb"]);
  });

  it("shows context once, merged where it overlaps", async () => {
    const files = { f: "1\n2\nhit 3\n4\nhit 5\n6\n7\n8\nhit 9" };
    expect(await printed(files, { pattern: "hit", context: 1 })).toEqual([
      "f-2-2",
      "f:3:hit 3",
      "f-4-4",
      "f:5:hit 5",
      "f-6-6",
      "f-8-8",
      "f:9:hit 9",
    ]);
    expect(await printed(files, { pattern: "hit", context: 100, limit: 1 })).toHaveLength(9);
  });

  it("says that the limit is reached only when there is more", async () => {
    const files = { a: "x\nx\n", b: "x\n" };
    expect(await grep(files, { pattern: "x", limit: 3 })).toMatchObject({ matches: 3, limitReached: false });
    expect(await grep(files, { pattern: "x", limit: 2 })).toMatchObject({ matches: 2, limitReached: true });
    expect(await grep(files, { pattern: "x", limit: 1 })).toMatchObject({ matches: 1, limitReached: true });
  });

  it("cuts lines at whole characters, and drops their endings", async () => {
    const files = { f: `${"😀".repeat(300)}\r\n${"y".repeat(501)}\nz\r\n` };
    expect(await printed(files, { pattern: ".", maxLineLength: 3 })).toEqual(["f:1:😀😀😀…", "f:2:yyy…", "f:3:z"]);
    expect(await printed(files, { pattern: "y" })).toEqual([`f:2:${"y".repeat(500)}…`]);
    expect(await printed(files, { pattern: "z$" })).toEqual(["f:3:z"]);
    expect(await printed(files, { pattern: "😀", maxLineLength: 300 })).toEqual([`f:1:${"😀".repeat(300)}`]);
  });

  it("searches one file when that is the root", async () => {
    expect(await printed({ "src/a.ts": "hit" }, { pattern: "hit" }, "src/a.ts")).toEqual(["a.ts:1:hit"]);
    await expect(grep({}, { pattern: "x" }, "none")).rejects.toMatchObject({ code: "not_found", path: "/workspace/none" });
    await expect(grep({ pipe: { special: "fifo" } }, { pattern: "x" }, "pipe")).rejects.toMatchObject({ code: "not_regular" });
  });

  it("keeps to a glob", async () => {
    const files = { "a.ts": "x", "src/a.ts": "x", "src/b.js": "x" };
    expect(await printed(files, { pattern: "x", glob: "*.ts" })).toEqual(["a.ts:1:x", "src/a.ts:1:x"]);
    expect(await printed(files, { pattern: "x", glob: "src/*" })).toEqual(["src/a.ts:1:x", "src/b.js:1:x"]);
  });

  it("P24 passes over and counts what is special, binary, too large or gone; ignores what .gitignore says", async () => {
    const target = changed(
      memory({
        files: {
          ".gitignore": "ignored\n",
          ignored: "x",
          binary: "x\0",
          pipe: { special: "fifo" },
          link: { symlink: "plain" },
          plain: "x",
          gone: "x",
          large: "x",
        },
      }),
      (connection) => ({
        async readFile(path, options) {
          if (path.endsWith("gone")) throw new GloveboxError("not_found", "Gone.");
          const read = await connection.readFile(path, options);
          return path.endsWith("large") ? { ...read, size: 33 * 1024 * 1024 } : read;
        },
      }),
    );
    const environment = await openEnvironment(target);
    const { lines, skipped } = await environment.grep(".", { pattern: "x", limit: 10 });
    expect(lines.map(({ path }) => path)).toEqual(["plain"]);
    expect(skipped).toBe(4);
  });

  it("ends with what concerns more than one file", async () => {
    const target = changed(memory({ files: { a: "x", b: "x" } }), () => ({
      readFile: () => Promise.reject(new GloveboxError("disconnected", "The link broke.")),
    }));
    await expect((await openEnvironment(target)).grep(".", { pattern: "x", limit: 5 })).rejects.toMatchObject({ code: "disconnected" });
  });

  it("reports as it goes", async () => {
    const environment = await openEnvironment(memory({ files: { a: "x\nx", b: "-", c: "x" } }));
    const batches: (readonly GrepLine[])[] = [];
    await environment.grep(".", { pattern: "x", limit: 5 }, { onBatch: (batch) => batches.push(batch) });
    expect(batches.map((batch) => batch.map(({ path, line }) => `${path}:${line}`))).toEqual([["a:1", "a:2"], ["c:1"]]);
  });

  it.each([
    ["a(b", 1, 'Unterminated group at character 2 ("(b")'],
    ["(a)[z-a]", 3, 'Range out of order in character class at character 4 ("[z-a]")'],
    ["(?i)x)", 5, "Unmatched ')' at character 6 (\")\")"],
    ["*", 0, 'Nothing to repeat at character 1 ("*")'],
  ])("names the place where %j goes wrong", async (pattern, position, reason) => {
    await expect(grep({}, { pattern })).rejects.toMatchObject({
      code: "invalid_argument",
      message: `${JSON.stringify(pattern)} is not a regular expression: ${reason}. Correct it, put a backslash before characters that stand for themselves, or search with literal: true.`,
      details: { position },
    });
  });
});

describe("L19 a pattern that backtracks for ever", () => {
  const files = memory({ files: { "a.txt": `${"a".repeat(40)}!\n` } });

  it("times out, and the event loop does not notice", async () => {
    let longestMs = 0;
    let last = performance.now();
    const beat = setInterval(() => {
      longestMs = Math.max(longestMs, performance.now() - last);
      last = performance.now();
    }, 5);
    try {
      const place = { files: await files.connect({}), cwd: "/workspace" };
      const search = portableGrep(place, "/workspace", { pattern: "(a+)+$", limit: 1 }, { deadlineMs: 300 });
      await expect(search).rejects.toMatchObject({
        code: "timeout",
        message:
          'The pattern "(a+)+$" was still at one file after 0.3 s, so the search was given up. Repetition inside repetition, as in (a+)+, does that: write it simpler, or search with literal: true.',
      });
    } finally {
      clearInterval(beat);
    }
    // The search kept a core busy for 300 ms: had it been ours, one beat would have been that long.
    expect(longestMs).toBeLessThan(250);
  });

  it("is ended by an abort", async () => {
    const environment = await openEnvironment(files);
    const abort = new AbortController();
    const search = environment.grep(".", { pattern: "(a+)+$", limit: 1 }, { signal: abort.signal });
    setTimeout(() => abort.abort(), 50);
    await expect(search).rejects.toMatchObject({ code: "aborted", verb: "grep" });
  });
});
