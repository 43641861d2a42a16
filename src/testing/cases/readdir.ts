import assert from "node:assert/strict";
import type { Entry } from "../../contract/operations.js";
import { casesOf } from "../contract-case.js";

const byName = (entries: readonly Entry[]): readonly Entry[] => [...entries].sort((a, b) => (a.name < b.name ? -1 : 1));

export const readdirCases = casesOf("readdir", [
  {
    name: "every entry comes with its kind, hidden ones included",
    quick: true,
    async run({ environment, path, write }) {
      await write("d/a.txt", "x");
      await write("d/.hidden", "x");
      await write("d/..odd", "x");
      await write("d/sub/b.txt", "x");
      assert.deepEqual(byName(await environment.readdir(path("d"))), [
        { name: "..odd", kind: "file" },
        { name: ".hidden", kind: "file" },
        { name: "a.txt", kind: "file" },
        { name: "sub", kind: "directory" },
      ]);
      assert.deepEqual(byName(await environment.readdir(path("d/"))), byName(await environment.readdir(path("d"))));
    },
  },
  {
    name: "an empty directory has no entries",
    needs: ["symlinks"],
    async run({ environment, path, host }) {
      await host.mkdir(path("empty"));
      assert.deepEqual(await environment.readdir(path("empty")), []);
    },
  },
  {
    name: "a symlink says where it points, as written, and what kind of thing is there",
    needs: ["symlinks"],
    async run({ environment, path, write, host }) {
      await write("d/a.txt", "x");
      await write("d/sub/b.txt", "x");
      await host.symlink("a.txt", path("d/to-file"));
      await host.symlink("./sub/", path("d/to-directory"));
      await host.symlink("to-file", path("d/to-link"));
      await host.symlink("no where", path("d/broken"));
      await host.symlink("circle", path("d/circle"));
      const links = byName(await environment.readdir(path("d"))).filter(({ kind }) => kind === "symlink");
      assert.deepEqual(links, [
        { name: "broken", kind: "symlink", linkTarget: "no where" },
        { name: "circle", kind: "symlink", linkTarget: "circle" },
        { name: "to-directory", kind: "symlink", linkTarget: "./sub/", linkKind: "directory" },
        { name: "to-file", kind: "symlink", linkTarget: "a.txt", linkKind: "file" },
        { name: "to-link", kind: "symlink", linkTarget: "to-file", linkKind: "file" },
      ]);
    },
  },
  {
    name: "link targets with line feeds, quotes, arrows and blanks come as written",
    id: "P06",
    needs: ["symlinks"],
    async run({ environment, path, host }) {
      const targets = ["a\nb", " -> x", "'q' \"q\"", "trailing \n", "\\n", "-n"];
      await host.mkdir(path("d"));
      for (const [index, target] of targets.entries()) await host.symlink(target, path(`d/link-${index}`));
      const entries = byName(await environment.readdir(path("d")));
      assert.deepEqual(
        entries.map(({ linkTarget }) => linkTarget),
        targets,
      );
    },
  },
  {
    name: "a directory reached through a symlink is listed",
    needs: ["symlinks"],
    async run({ environment, path, write, host }) {
      await write("real/a.txt", "x");
      await host.symlink("real", path("link"));
      assert.deepEqual(await environment.readdir(path("link")), [{ name: "a.txt", kind: "file" }]);
    },
  },
  {
    name: "a FIFO is listed with its kind",
    id: "P24",
    needs: ["specialFiles"],
    async run({ environment, path, host }) {
      await host.mkdir(path("d"));
      await host.fifo(path("d/fifo"));
      await host.symlink("fifo", path("d/link"));
      assert.deepEqual(byName(await environment.readdir(path("d"))), [
        { name: "fifo", kind: "fifo" },
        { name: "link", kind: "symlink", linkTarget: "fifo", linkKind: "fifo" },
      ]);
    },
  },
  {
    name: "a missing directory is not_found, a file is not_directory, a circle is loop",
    id: "P25",
    async run({ environment, facts, path, write, host, rejects }) {
      await rejects(environment.readdir(path("missing")), "not_found");
      await write("file", "x");
      await rejects(environment.readdir(path("file")), "not_directory");
      await rejects(environment.readdir(path("file/below")), "not_directory");
      if (!facts.symlinks) return;
      await host.symlink("circle", path("circle"));
      await rejects(environment.readdir(path("circle")), "loop");
    },
  },
  {
    name: "a directory that the account may not list is permission_denied",
    id: "P30",
    needs: ["modes", "ordinaryUser"],
    async run({ environment, path, write, host, rejects }) {
      await write("closed/a.txt", "x");
      await host.chmod(path("closed"), 0o300);
      await rejects(environment.readdir(path("closed")), "permission_denied");
      await host.chmod(path("closed"), 0o755);
    },
  },
  {
    name: "a thousand entries come back whole",
    needs: ["processes"],
    async run({ environment, path, host }) {
      await host.mkdir(path("many"));
      await environment.exec('i=0; while [ "$i" -lt 1000 ]; do : > "entry number $i"; i=$((i+1)); done', { cwd: path("many") });
      const entries = await environment.readdir(path("many"));
      assert.equal(entries.length, 1000);
      assert.equal(new Set(entries.map(({ name }) => name)).size, 1000);
      assert.ok(entries.every(({ name, kind }) => kind === "file" && /^entry number \d+$/.test(name)));
    },
  },
]);
