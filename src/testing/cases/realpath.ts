import assert from "node:assert/strict";
import { casesOf } from "../contract-case.js";

export const realpathCases = casesOf("realpath", [
  {
    name: "realpath of what exists is its canonical path",
    quick: true,
    async run({ environment, directory, path, write }) {
      await write("d/a.txt", "x");
      assert.equal(await environment.realpath(path("d/a.txt")), path("d/a.txt"));
      assert.equal(await environment.realpath(`${directory}//d/./../d/a.txt`), path("d/a.txt"));
      assert.equal(await environment.realpath(path("d/")), path("d"));
      assert.equal(await environment.realpath("."), environment.cwd);
    },
  },
  {
    name: "what is missing is kept as written, lexically normalised",
    quick: true,
    async run({ environment, path, write }) {
      await write("d/a.txt", "x");
      assert.equal(await environment.realpath(path("missing")), path("missing"));
      assert.equal(await environment.realpath(path("d/no/such")), path("d/no/such"));
      assert.equal(await environment.realpath(path("no/./such//file/")), path("no/such/file"));
      assert.equal(await environment.realpath(path("no/such/../file")), path("no/file"));
    },
  },
  {
    name: "symlinks are resolved, and what is missing behind them is kept",
    needs: ["symlinks"],
    async run({ environment, path, write, host }) {
      await write("real/sub/a.txt", "x");
      await host.symlink("real/sub", path("link"));
      assert.equal(await environment.realpath(path("link")), path("real/sub"));
      assert.equal(await environment.realpath(path("link/a.txt")), path("real/sub/a.txt"));
      assert.equal(await environment.realpath(path("link/new/file")), path("real/sub/new/file"));
      assert.equal(await environment.realpath(path("link/../b.txt")), path("real/b.txt"));
    },
  },
  {
    name: "a broken symlink leads to the place it names",
    needs: ["symlinks"],
    async run({ environment, path, host }) {
      await host.symlink("nowhere", path("broken"));
      assert.equal(await environment.realpath(path("broken")), path("nowhere"));
    },
  },
  {
    name: "a circle of symlinks is loop",
    id: "P26",
    needs: ["symlinks"],
    async run({ environment, path, host, rejects }) {
      await host.symlink("b", path("a"));
      await host.symlink("a", path("b"));
      await rejects(environment.realpath(path("a")), "loop");
    },
  },
  {
    name: "names with line feeds at the end survive",
    id: "P06",
    async run({ environment, path, write }) {
      await write("d\n/f\n", "x");
      assert.equal(await environment.realpath(path("d\n/f\n")), path("d\n/f\n"));
      assert.equal(await environment.realpath(path("d\n/missing\n\n")), path("d\n/missing\n\n"));
    },
  },
]);
