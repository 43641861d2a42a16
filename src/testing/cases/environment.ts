import assert from "node:assert/strict";
import { casesOf } from "../contract-case.js";

const isCanonical = (path: string): boolean => path === "/" || /^(\/(?!\.{1,2}(\/|$))[^/]+)+$/.test(path);

export const environmentCases = casesOf("environment", [
  {
    name: "places are absolute and canonical, and the root holds the working directory",
    quick: true,
    async run({ environment }) {
      const { cwd, root, home, spoolDirectory } = environment;
      for (const path of [cwd, spoolDirectory, ...(root === undefined ? [] : [root]), ...(home === undefined ? [] : [home])]) {
        assert.ok(isCanonical(path), path);
      }
      assert.ok(root === undefined || root === "/" || cwd === root || cwd.startsWith(`${root}/`), `${cwd} is not in ${root}`);
      assert.equal(await environment.realpath("."), cwd);
    },
  },
  {
    name: "two connections to one target have the same id and see the same files",
    quick: true,
    async run({ environment, path, write, reopen }) {
      const other = await reopen();
      assert.equal(other.id, environment.id);
      assert.notEqual(other.spoolDirectory, environment.spoolDirectory);
      await write("a.txt", "shared");
      assert.equal(Buffer.from((await other.readFile(path("a.txt"))).data).toString(), "shared");
      assert.equal(other.mutationKey(path("new")), environment.mutationKey(path("new")));
    },
  },
  {
    name: "describe() is facts without secrets, fit for JSON",
    quick: true,
    async run({ environment }) {
      const description = await environment.describe();
      assert.deepEqual(JSON.parse(JSON.stringify(description)), description);
      assert.equal(description.kind, environment.kind);
      assert.notEqual(description.isolation, "");
      assert.ok(Array.isArray(description.warnings));
    },
  },
  {
    name: "a mutation key is the same for all spellings of a path, and learns what a reply taught",
    id: "Q01",
    needs: ["symlinks"],
    async run({ environment, path, directory, write, host }) {
      await write("real/a.txt", "x");
      const key = environment.mutationKey(path("real/a.txt"));
      assert.equal(environment.mutationKey(`${directory}//real/./../real/a.txt`), key);
      assert.notEqual(environment.mutationKey(path("real/b.txt")), key);
      await host.symlink("real", path("alias"));
      await environment.stat(path("alias/a.txt"));
      assert.equal(environment.mutationKey(path("alias/a.txt")), key);
    },
  },
  {
    name: "the spool directory takes files, and is gone after close",
    async run({ environment, rejects, reopen }) {
      const other = await reopen();
      const file = `${other.spoolDirectory}/out.log`;
      await other.writeFile(file, Buffer.from("kept"));
      assert.equal(Buffer.from((await other.readFile(file)).data).toString(), "kept");
      await other.close();
      if (environment.root === undefined || environment.root === "/") await rejects(environment.stat(file), "not_found");
      else assert.notEqual(environment.spoolDirectory, other.spoolDirectory);
    },
  },
  {
    name: "the spool directory is its owner's alone",
    needs: ["processes"],
    async run({ environment, reopen }) {
      const other = await reopen();
      await other.writeFile(`${other.spoolDirectory}/out.log`, Buffer.from("kept"));
      assert.equal((await other.stat(other.spoolDirectory)).mode & 0o077, 0);
      const { exitCode } = await environment.exec('[ -f "$AT/out.log" ]', { env: { AT: other.spoolDirectory } });
      assert.equal(exitCode, 0);
      await other.close();
      const after = await environment.exec('[ ! -e "$AT" ]', { env: { AT: other.spoolDirectory } });
      assert.equal(after.exitCode, 0, "it is gone after close");
    },
  },
  {
    name: "after close every verb rejects gone, and closing again is fine",
    quick: true,
    async run({ path, rejects, reopen }) {
      const other = await reopen();
      await other.close();
      await other.close();
      await rejects(other.readFile(path("a")), "gone");
      await rejects(other.writeFile(path("a"), Buffer.from("x")), "gone");
      await rejects(other.stat(path("a")), "gone");
      await rejects(other.readdir(path(".")), "gone");
      await rejects(other.realpath(path("a")), "gone");
      await rejects(other.exec("true"), "gone");
      await rejects(other.grep(path("."), { pattern: "x", limit: 1 }), "gone");
      await rejects(other.find(path("."), { pattern: "x", limit: 1 }), "gone");
    },
  },
  {
    name: "closing one connection leaves another to the same target alone",
    id: "P8",
    async run({ environment, path, write, reopen }) {
      const other = await reopen();
      await write("a.txt", "x");
      await other.readFile(path("a.txt"));
      await other.close();
      assert.equal((await environment.readFile(path("a.txt"))).size, 1);
    },
  },
  {
    name: "sixty calls at once all get their own answers",
    id: "P12",
    async run({ environment, path, write }) {
      await write("d/.keep", "");
      const calls = Array.from({ length: 60 }, async (_, index) => {
        await write(`d/file-${index}`, `content ${index}`);
        const { data, canonicalPath } = await environment.readFile(path(`d/file-${index}`));
        assert.equal(Buffer.from(data).toString(), `content ${index}`);
        assert.equal(canonicalPath, path(`d/file-${index}`));
        assert.equal((await environment.stat(path(`d/file-${index}`))).size, `content ${index}`.length);
      });
      await Promise.all(calls);
      assert.equal((await environment.readdir(path("d"))).length, 61);
    },
  },
]);
