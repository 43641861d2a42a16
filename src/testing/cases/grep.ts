import assert from "node:assert/strict";
import type { GrepLine, GrepQuery } from "../../contract/operations.js";
import { type ContractContext, casesOf } from "../contract-case.js";
import { PATIENCE_MS, sleep, within } from "../settle.js";

type Asked = Partial<GrepQuery> & { readonly pattern: string };

async function grep({ environment, path }: ContractContext, root: string, query: Asked) {
  const result = await environment.grep(path(root), { limit: 100, ...query });
  return {
    ...result,
    shown: result.lines.map(({ path: file, line, kind, text }) => `${file}:${line}:${kind === "match" ? ":" : "-"} ${text}`),
  };
}

const inOrder = (shown: readonly string[]): readonly string[] => [...shown].sort();

export const grepCases = casesOf("grep", [
  {
    name: "matching lines come with path, number and text, grouped by file and in order",
    quick: true,
    async run(context) {
      await context.write("d/a.txt", "one\ntwo needle\nthree\nneedle needle\n");
      await context.write("d/sub/b.txt", "needle\n");
      await context.write("d/sub/c.txt", "nothing\n");
      const result = await grep(context, "d", { pattern: "needle" });
      assert.deepEqual(inOrder(result.shown), ["a.txt:2:: two needle", "a.txt:4:: needle needle", "sub/b.txt:1:: needle"]);
      assert.deepEqual([result.matches, result.limitReached], [3, false]);
      const files = result.lines.map((line) => line.path);
      assert.equal(files.indexOf("a.txt") + 1, files.lastIndexOf("a.txt"), "the lines of one file stand together");
      assert.equal(result.engine, context.environment.capabilities.grep);
    },
  },
  {
    name: "no match is an empty result",
    quick: true,
    async run(context) {
      await context.write("d/a.txt", "one\n");
      const { lines, matches, limitReached } = await grep(context, "d", { pattern: "needle" });
      assert.deepEqual({ lines, matches, limitReached }, { lines: [], matches: 0, limitReached: false });
    },
  },
  {
    name: "a root that is a file is searched, under its own name",
    async run(context) {
      await context.write("d/a.txt", "one\nneedle\n");
      await context.write("d/b.txt", "needle\n");
      assert.deepEqual((await grep(context, "d/a.txt", { pattern: "needle" })).shown, ["a.txt:2:: needle"]);
    },
  },
  {
    name: "a regular expression matches, with classes, anchors, alternatives and repetition",
    async run(context) {
      await context.write("d/a.txt", "cat 12\ndog 7\ncat\n  cat 3\n");
      const lines = async (pattern: string) => (await grep(context, "d", { pattern })).lines.map(({ line }) => line);
      assert.deepEqual(await lines("^cat"), [1, 3]);
      assert.deepEqual(await lines("[0-9]{2}"), [1]);
      assert.deepEqual(await lines("(cat|dog) [0-9]+$"), [1, 2, 4]);
      assert.deepEqual(await lines("c.t$"), [3]);
    },
  },
  {
    name: "`literal` takes the pattern as plain text",
    id: "P08",
    async run(context) {
      await context.write("d/a.txt", "a.c\nabc\n$(id) [x] \\n\n-n --pre=x\n(*\n");
      const lines = async (pattern: string) => (await grep(context, "d", { pattern, literal: true })).lines.map(({ line }) => line);
      assert.deepEqual(await lines("a.c"), [1]);
      assert.deepEqual(await lines("$(id) [x] \\n"), [3]);
      assert.deepEqual(await lines("-n"), [4]);
      assert.deepEqual(await lines("--pre=x"), [4]);
      assert.deepEqual(await lines("(*"), [5]);
    },
  },
  {
    name: "a pattern that looks like an option is a pattern",
    id: "L18",
    async run(context) {
      await context.write("d/a.txt", "--pre=/bin/sh\n-f\nplain\n");
      assert.deepEqual((await grep(context, "d", { pattern: "--pre=/bin/sh" })).lines.length, 1);
      assert.deepEqual((await grep(context, "d", { pattern: "-f" })).lines.length, 1);
      await context.write("-r/--include=x", "needle\n");
      assert.deepEqual((await grep(context, "-r", { pattern: "needle" })).shown, ["--include=x:1:: needle"]);
    },
  },
  {
    name: "ignoreCase ignores case",
    async run(context) {
      await context.write("d/a.txt", "Needle\nNEEDLE\nneedle\n");
      assert.equal((await grep(context, "d", { pattern: "needle" })).matches, 1);
      assert.equal((await grep(context, "d", { pattern: "needle", ignoreCase: true })).matches, 3);
      assert.equal((await grep(context, "d", { pattern: "NEEDLE", ignoreCase: true, literal: true })).matches, 3);
    },
  },
  {
    name: "a glob without a slash picks names at any depth, one with a slash is anchored at the root",
    async run(context) {
      for (const name of ["a.ts", "a.js", "src/b.ts", "src/b.js", "pkg/src/c.ts"]) await context.write(`d/${name}`, "needle\n");
      const files = async (glob: string) => (await grep(context, "d", { pattern: "needle", glob })).lines.map((line) => line.path).sort();
      assert.deepEqual(await files("*.ts"), ["a.ts", "pkg/src/c.ts", "src/b.ts"]);
      assert.deepEqual(await files("src/*.ts"), ["src/b.ts"]);
      assert.deepEqual(await files("**/src/*.ts"), ["pkg/src/c.ts", "src/b.ts"]);
      assert.deepEqual(await files("*.{ts,js}"), ["a.js", "a.ts", "pkg/src/c.ts", "src/b.js", "src/b.ts"]);
      assert.deepEqual(await files("*.none"), []);
    },
  },
  {
    name: "context lines come on each side, each line once",
    async run(context) {
      await context.write("d/a.txt", "1\n2\nx\n4\nx\n6\n7\n8\n9\nx\n");
      assert.deepEqual((await grep(context, "d", { pattern: "x", context: 1 })).shown, [
        "a.txt:2:- 2",
        "a.txt:3:: x",
        "a.txt:4:- 4",
        "a.txt:5:: x",
        "a.txt:6:- 6",
        "a.txt:9:- 9",
        "a.txt:10:: x",
      ]);
    },
  },
  {
    name: "limit caps the matching lines, and limitReached says only that there are more",
    async run(context) {
      await context.write("d/a.txt", "x\n".repeat(5));
      await context.write("d/b.txt", "x\n".repeat(5));
      const facts = async (limit: number, query: Partial<GrepQuery> = {}) => {
        const { matches, limitReached, lines } = await grep(context, "d", { pattern: "x", limit, ...query });
        return [matches, limitReached, lines.filter(({ kind }) => kind === "match").length];
      };
      assert.deepEqual(await facts(1), [1, true, 1]);
      assert.deepEqual(await facts(5), [5, true, 5]);
      assert.deepEqual(await facts(9), [9, true, 9]);
      assert.deepEqual(await facts(10), [10, false, 10]);
      assert.deepEqual(await facts(11), [10, false, 10]);
      assert.deepEqual(await facts(3, { context: 2 }), [3, true, 3]);
    },
  },
  {
    name: "long lines are cut at maxLineLength characters, and say so",
    async run(context) {
      await context.write("d/a.txt", `${"é".repeat(600)}needle\nneedle short\n`);
      const [long, short] = (await grep(context, "d", { pattern: "needle" })).lines;
      assert.deepEqual([long?.text, long?.cut, short?.text, short?.cut], ["é".repeat(500), true, "needle short", undefined]);
      const [cut] = (await grep(context, "d", { pattern: "short", maxLineLength: 8 })).lines;
      assert.deepEqual([cut?.text, cut?.cut], ["needle s", true]);
      const [whole] = (await grep(context, "d", { pattern: "short", maxLineLength: 12 })).lines;
      assert.deepEqual([whole?.text, whole?.cut], ["needle short", undefined]);
    },
  },
  {
    name: "the line ending is not part of the text, CRLF too, and a last line without one counts",
    id: "C02",
    async run(context) {
      await context.write("d/a.txt", "needle\r\nneedle\nneedle");
      assert.deepEqual((await grep(context, "d", { pattern: "needle" })).shown, [
        "a.txt:1:: needle",
        "a.txt:2:: needle",
        "a.txt:3:: needle",
      ]);
    },
  },
  {
    name: "odd names and odd lines come apart cleanly",
    id: "P06",
    async run(context) {
      const names = ["a:1:b", "line\nfeed", "-", "quo'te\"", "tab\there", "a-2-b", "a\\b", "é", "dir:1/x\n"];
      for (const name of names) await context.write(`d/${name}`, "needle:2: x-3-y\tz\n");
      const { lines } = await grep(context, "d", { pattern: "needle" });
      assert.deepEqual(lines.map((line) => line.path).sort(), [...names].sort());
      assert.deepEqual([...new Set(lines.map(({ line, text }) => `${line} ${text}`))], ["1 needle:2: x-3-y\tz"]);
    },
  },
  {
    name: "hidden files are searched, and .git is not",
    async run(context) {
      await context.write("d/.hidden", "needle\n");
      await context.write("d/.config/deep", "needle\n");
      await context.write("d/.git/notes", "needle\n");
      assert.deepEqual(inOrder((await grep(context, "d", { pattern: "needle" })).lines.map((line) => line.path)), [
        ".config/deep",
        ".hidden",
      ]);
    },
  },
  {
    name: "ignoreRules tells whether .gitignore was heeded",
    async run(context) {
      await context.write("d/.git/HEAD", "ref: refs/heads/main\n");
      await context.write("d/.gitignore", "ignored.txt\nbuild/\n");
      for (const name of ["ignored.txt", "build/out.txt", "kept.txt"]) await context.write(`d/${name}`, "needle\n");
      const { lines, ignoreRules } = await grep(context, "d", { pattern: "needle" });
      const expected = ignoreRules ? ["kept.txt"] : ["build/out.txt", "ignored.txt", "kept.txt"];
      assert.deepEqual(lines.map((line) => line.path).sort(), expected);
    },
  },
  {
    name: "binary files are passed over",
    id: "C07",
    async run(context) {
      await context.write("d/binary", Buffer.from("needle\0\x01\x02needle\n", "latin1"));
      await context.write("d/text", "needle\n");
      assert.deepEqual((await grep(context, "d", { pattern: "needle" })).shown, ["text:1:: needle"]);
    },
  },
  {
    name: "FIFOs are passed over and do not hold the search",
    id: "P24",
    needs: ["specialFiles"],
    async run(context) {
      await context.write("d/text", "needle\n");
      await context.host.fifo(context.path("d/fifo"));
      const result = await within(PATIENCE_MS, "A search over a FIFO", grep(context, "d", { pattern: "needle" }));
      assert.deepEqual(result.shown, ["text:1:: needle"]);
    },
  },
  {
    name: "circles of symlinks do not hold the search, and nothing is found twice",
    id: "P26",
    needs: ["symlinks"],
    async run(context) {
      await context.write("d/sub/text", "needle\n");
      await context.host.symlink("..", context.path("d/sub/up"));
      await context.host.symlink("text", context.path("d/sub/again"));
      await context.host.symlink("gone", context.path("d/broken"));
      const result = await within(PATIENCE_MS, "A search over a circle", grep(context, "d", { pattern: "needle" }));
      assert.deepEqual(result.shown, ["sub/text:1:: needle"]);
    },
  },
  {
    name: "a missing root is not_found",
    quick: true,
    async run({ environment, path, rejects }) {
      await rejects(environment.grep(path("missing"), { pattern: "x", limit: 1 }), "not_found");
    },
  },
  {
    name: "a bad pattern is invalid_argument, also where there is nothing to search",
    async run({ environment, directory, path, write, rejects }) {
      await write("d/a.txt", "x\n");
      for (const pattern of ["(", "[a", "a{2,1}", "*("]) {
        await rejects(environment.grep(path("d"), { pattern, limit: 1 }), "invalid_argument");
      }
      await rejects(environment.grep(directory, { pattern: "x", limit: 0 }), "invalid_argument");
      await rejects(environment.grep(directory, { pattern: "x", limit: 1, context: -1 }), "invalid_argument");
      await rejects(environment.grep(directory, { pattern: "a\0b", limit: 1 }), "invalid_argument");
    },
  },
  {
    name: "a catastrophic pattern ends by its deadline and does not stall this process",
    async run({ environment, path, write }) {
      await write("d/a.txt", `${"a".repeat(4000)}b\n`.repeat(20));
      const controller = new AbortController();
      const deadline = setTimeout(() => controller.abort(new DOMException("too late", "TimeoutError")), 1500);
      let longestMs = 0;
      let last = performance.now();
      const heart = setInterval(() => {
        const now = performance.now();
        longestMs = Math.max(longestMs, now - last);
        last = now;
      }, 20);
      const search = environment.grep(path("d"), { pattern: "(a|aa|a*)+$", limit: 10 }, { signal: controller.signal });
      const outcome = await within(
        PATIENCE_MS,
        "A catastrophic search",
        search.then(
          () => "resolved",
          (error: { readonly code?: string }) => error.code,
        ),
      );
      await sleep(50);
      clearTimeout(deadline);
      clearInterval(heart);
      assert.ok(outcome === "resolved" || outcome === "timeout", `it ended with ${outcome}`);
      assert.ok(longestMs < 1200, `this process stood still for ${Math.round(longestMs)} ms`);
    },
  },
  {
    name: "batches tell of results as they arrive",
    async run({ environment, path, write }) {
      await write("d/a.txt", "needle\n");
      const seen: GrepLine[] = [];
      const { lines } = await environment.grep(path("d"), { pattern: "needle", limit: 10 }, { onBatch: (batch) => seen.push(...batch) });
      assert.deepEqual(seen, lines);
    },
  },
  {
    name: "a signal that has fired already rejects aborted",
    async run({ environment, directory, rejects }) {
      await rejects(environment.grep(directory, { pattern: "x", limit: 1 }, { signal: AbortSignal.abort() }), "aborted");
    },
  },
]);
