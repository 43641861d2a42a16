import assert from "node:assert/strict";
import { casesOf } from "../contract-case.js";
import { sleep } from "../settle.js";

export const statCases = casesOf("stat", [
  {
    name: "stat of a file says kind, size and canonical path",
    quick: true,
    async run({ environment, path, write }) {
      await write("a.txt", "12345");
      const stat = await environment.stat(path("a.txt"));
      assert.equal(stat.kind, "file");
      assert.equal(stat.size, 5);
      assert.equal(stat.canonicalPath, path("a.txt"));
      assert.ok(Number.isInteger(stat.mode) && stat.mode >= 0 && stat.mode <= 0o7777, `mode ${stat.mode}`);
    },
  },
  {
    name: "stat of a directory says so, with or without a slash",
    quick: true,
    async run({ environment, directory, path, write }) {
      await write("d/a.txt", "x");
      for (const name of [path("d"), path("d/"), path("d/.")]) {
        const stat = await environment.stat(name);
        assert.deepEqual([stat.kind, stat.canonicalPath], ["directory", path("d")]);
      }
      assert.equal((await environment.stat(directory)).canonicalPath, directory);
    },
  },
  {
    name: "stat follows symlinks",
    needs: ["symlinks"],
    async run({ environment, path, write, host }) {
      await write("real/a.txt", "12345");
      await host.symlink("real/a.txt", path("link"));
      await host.symlink("real", path("directory-link"));
      const file = await environment.stat(path("link"));
      assert.deepEqual([file.kind, file.size, file.canonicalPath], ["file", 5, path("real/a.txt")]);
      const directory = await environment.stat(path("directory-link"));
      assert.deepEqual([directory.kind, directory.canonicalPath], ["directory", path("real")]);
    },
  },
  {
    name: "the mode is the permission bits, all twelve",
    needs: ["modes"],
    async run({ environment, path, write, host }) {
      await write("a.txt", "x");
      for (const mode of [0o644, 0o755, 0o600, 0o4755, 0o2711, 0o1777]) {
        await host.chmod(path("a.txt"), mode);
        assert.equal((await environment.stat(path("a.txt"))).mode, mode, mode.toString(8));
      }
    },
  },
  {
    name: "mtimeMs is milliseconds since the epoch and moves with a write",
    async run({ environment, path, write }) {
      await write("a.txt", "one");
      const first = (await environment.stat(path("a.txt"))).mtimeMs;
      assert.ok(first > Date.UTC(2000, 0) && first < Date.UTC(2100, 0), `${first} is not a time in milliseconds`);
      assert.equal((await environment.stat(path("a.txt"))).mtimeMs, first);
      await sleep(1100);
      await write("a.txt", "two");
      const second = (await environment.stat(path("a.txt"))).mtimeMs;
      assert.ok(second > first && second < first + 600_000, `${first} then ${second}`);
    },
  },
  {
    name: "a FIFO has its kind",
    id: "P24",
    needs: ["specialFiles"],
    async run({ environment, path, host }) {
      await host.fifo(path("fifo"));
      assert.equal((await environment.stat(path("fifo"))).kind, "fifo");
    },
  },
  {
    name: "what is missing is not_found, a broken symlink too",
    quick: true,
    async run({ environment, facts, path, host, rejects }) {
      await rejects(environment.stat(path("missing")), "not_found");
      await rejects(environment.stat(path("no/such")), "not_found");
      if (!facts.symlinks) return;
      await host.symlink("nowhere", path("broken"));
      await rejects(environment.stat(path("broken")), "not_found");
    },
  },
  {
    name: "a file used as a directory is not_directory",
    id: "P25",
    async run({ environment, path, write, rejects }) {
      await write("file", "x");
      await rejects(environment.stat(path("file/below")), "not_directory");
      await rejects(environment.stat(path("file/")), "not_directory");
    },
  },
  {
    name: "a circle of symlinks is loop",
    id: "P26",
    needs: ["symlinks"],
    async run({ environment, path, host, rejects }) {
      await host.symlink("b", path("a"));
      await host.symlink("a", path("b"));
      await rejects(environment.stat(path("a")), "loop");
    },
  },
]);
