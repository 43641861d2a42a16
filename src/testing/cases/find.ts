import assert from "node:assert/strict";
import type { FoundPath } from "../../contract/operations.js";
import { type ContractContext, casesOf } from "../contract-case.js";
import { PATIENCE_MS, within } from "../settle.js";

async function find({ environment, path }: ContractContext, root: string, pattern: string, limit = 100) {
  const result = await environment.find(path(root), { pattern, limit });
  return { ...result, shown: result.paths.map((found) => found.path) };
}

async function tree({ write }: ContractContext, ...files: readonly string[]): Promise<void> {
  for (const file of files) await write(`d/${file}`, "x");
}

export const findCases = casesOf("find", [
  {
    name: "a pattern without a slash matches names at any depth",
    quick: true,
    async run(context) {
      await tree(context, "a.ts", "a.js", "src/b.ts", "src/deep/er/c.ts");
      const result = await find(context, "d", "*.ts");
      assert.deepEqual(result.paths, [
        { path: "a.ts", kind: "file" },
        { path: "src/b.ts", kind: "file" },
        { path: "src/deep/er/c.ts", kind: "file" },
      ]);
      assert.deepEqual([result.limitReached, result.engine], [false, context.environment.capabilities.find]);
    },
  },
  {
    name: "a pattern with a slash is anchored at the root, and a leading `./` says no more",
    quick: true,
    async run(context) {
      await tree(context, "src/a.ts", "pkg/src/b.ts", "src/deep/c.ts");
      assert.deepEqual((await find(context, "d", "src/*.ts")).shown, ["src/a.ts"]);
      assert.deepEqual((await find(context, "d", "./src/*.ts")).shown, ["src/a.ts"]);
      assert.deepEqual((await find(context, "d", "src/**/*.ts")).shown, ["src/a.ts", "src/deep/c.ts"]);
      assert.deepEqual((await find(context, "d", "**/src/*.ts")).shown, ["pkg/src/b.ts", "src/a.ts"]);
    },
  },
  {
    name: "`?`, classes and alternatives match, and a star stops at a slash",
    async run(context) {
      await tree(context, "a1", "a2", "ab", "b1", "sub/a3");
      assert.deepEqual((await find(context, "d", "a?")).shown, ["a1", "a2", "ab", "sub/a3"]);
      assert.deepEqual((await find(context, "d", "a[0-9]")).shown, ["a1", "a2", "sub/a3"]);
      assert.deepEqual((await find(context, "d", "{a1,b1}")).shown, ["a1", "b1"]);
      assert.deepEqual((await find(context, "d", "./a*")).shown, ["a1", "a2", "ab"]);
    },
  },
  {
    name: "every kind is found and named",
    needs: ["symlinks", "specialFiles"],
    async run(context) {
      await tree(context, "x-file", "x-directory/y");
      await context.host.symlink("x-file", context.path("d/x-link"));
      await context.host.symlink("nowhere", context.path("d/x-broken"));
      await context.host.fifo(context.path("d/x-fifo"));
      assert.deepEqual((await find(context, "d", "x-*")).paths, [
        { path: "x-broken", kind: "symlink" },
        { path: "x-directory", kind: "directory" },
        { path: "x-fifo", kind: "fifo" },
        { path: "x-file", kind: "file" },
        { path: "x-link", kind: "symlink" },
      ]);
    },
  },
  {
    name: "results are sorted by code point",
    async run(context) {
      const names = ["B", "a", "Z", "_", "é", "1", "a-b", "a/x", "a.x", "\u{1F600}", "\uFF21"];
      await tree(context, ...names.filter((name) => name !== "a"));
      const { shown } = await find(context, "d", "*");
      const byCodePoint = [...shown].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      assert.deepEqual(shown, byCodePoint);
      assert.equal(shown.length, names.length);
    },
  },
  {
    name: "limit caps the results, and limitReached says only that there are more",
    async run(context) {
      await tree(context, "a", "b", "c", "d", "sub/e");
      const facts = async (limit: number) => {
        const { shown, limitReached } = await find(context, "d", "?", limit);
        return [shown.length, limitReached];
      };
      assert.deepEqual(await facts(1), [1, true]);
      assert.deepEqual(await facts(4), [4, true]);
      assert.deepEqual(await facts(5), [5, false]);
      assert.deepEqual(await facts(6), [5, false]);
    },
  },
  {
    name: "odd names survive",
    id: "P06",
    async run(context) {
      const names = ["line\nfeed", "\n", "-name", "quo'te\"", "--", "a\\b", "[x]", "*", "dir\n/f\n", " "];
      await tree(context, ...names);
      const { shown } = await find(context, "d", "**");
      assert.deepEqual([...shown].sort(), [...names, "dir\n"].sort());
      assert.deepEqual((await find(context, "d", "-name")).shown, ["-name"]);
    },
  },
  {
    name: "a pattern that looks like an option or a command is a pattern",
    id: "P08",
    async run(context) {
      await tree(context, "-delete", "$(id)", "a;b", "--help");
      for (const name of ["-delete", "$(id)", "a;b", "--help"]) assert.deepEqual((await find(context, "d", name)).shown, [name]);
      assert.deepEqual((await context.names("d")).length, 4);
    },
  },
  {
    name: "hidden files are found, and .git is not",
    async run(context) {
      await tree(context, ".hidden.ts", ".config/a.ts", ".git/a.ts");
      assert.deepEqual((await find(context, "d", "*.ts")).shown, [".config/a.ts", ".hidden.ts"]);
    },
  },
  {
    name: "ignoreRules tells whether .gitignore was heeded",
    async run(context) {
      await context.write("d/.git/HEAD", "ref: refs/heads/main\n");
      await context.write("d/.gitignore", "ignored.txt\nbuild/\n");
      await tree(context, "ignored.txt", "build/out.txt", "kept.txt");
      const { shown, ignoreRules } = await find(context, "d", "*.txt");
      assert.deepEqual(shown, ignoreRules ? ["kept.txt"] : ["build/out.txt", "ignored.txt", "kept.txt"]);
    },
  },
  {
    name: "circles of symlinks do not hold the search, and links are not entered",
    id: "P26",
    needs: ["symlinks"],
    async run(context) {
      await tree(context, "sub/a.ts");
      await context.host.symlink("..", context.path("d/sub/up"));
      await context.host.symlink("sub", context.path("d/alias"));
      const { shown } = await within(PATIENCE_MS, "A search over a circle", find(context, "d", "*.ts"));
      assert.deepEqual(shown, ["sub/a.ts"]);
    },
  },
  {
    name: "a root that is a symlink to a directory is searched",
    needs: ["symlinks"],
    async run(context) {
      await tree(context, "a.ts");
      await context.host.symlink("d", context.path("alias"));
      assert.deepEqual((await find(context, "alias", "*.ts")).shown, ["a.ts"]);
    },
  },
  {
    name: "a missing root is not_found, no match is an empty result",
    quick: true,
    async run(context) {
      const { environment, path, rejects } = context;
      await rejects(environment.find(path("missing"), { pattern: "*", limit: 1 }), "not_found");
      await tree(context, "a");
      const { paths, limitReached } = await find(context, "d", "*.none");
      assert.deepEqual({ paths, limitReached }, { paths: [], limitReached: false });
    },
  },
  {
    name: "a pattern that is empty or holds a NUL, and a limit of 0, are refused",
    async run({ environment, directory, rejects }) {
      await rejects(environment.find(directory, { pattern: "", limit: 1 }), "invalid_argument");
      await rejects(environment.find(directory, { pattern: "a\0b", limit: 1 }), "invalid_argument");
      await rejects(environment.find(directory, { pattern: "*", limit: 0 }), "invalid_argument");
    },
  },
  {
    name: "batches tell of results as they arrive",
    async run(context) {
      await tree(context, "a", "b");
      const seen: FoundPath[] = [];
      const { paths } = await context.environment.find(
        context.path("d"),
        { pattern: "*", limit: 10 },
        { onBatch: (batch) => seen.push(...batch) },
      );
      assert.deepEqual(seen.map(({ path }) => path).sort(), paths.map(({ path }) => path).sort());
    },
  },
  {
    name: "a signal that has fired already rejects aborted",
    async run({ environment, directory, rejects }) {
      await rejects(environment.find(directory, { pattern: "*", limit: 1 }, { signal: AbortSignal.abort() }), "aborted");
    },
  },
]);
