import assert from "node:assert/strict";
import { casesOf } from "../contract-case.js";
import { runCommand } from "../run-command.js";

export const writeCases = casesOf("write", [
  {
    name: "writeFile makes the file and says so; a second write replaces it and says so",
    quick: true,
    async run({ write, text, path }) {
      assert.deepEqual(await write("a.txt", "first, and long"), { canonicalPath: path("a.txt"), created: true });
      assert.deepEqual(await write("a.txt", "second"), { canonicalPath: path("a.txt"), created: false });
      assert.equal(await text("a.txt"), "second");
      await write("a.txt", "");
      assert.equal(await text("a.txt"), "");
    },
  },
  {
    name: "missing parents are made",
    id: "C21",
    quick: true,
    async run({ write, text, path, names }) {
      assert.equal((await write("p/q/r/a.txt", "deep")).canonicalPath, path("p/q/r/a.txt"));
      assert.equal(await text("p/q/r/a.txt"), "deep");
      assert.deepEqual(await names("p"), ["q"]);
    },
  },
  {
    name: "nothing but the file is left behind, whether the write succeeds or is refused",
    id: "P14",
    quick: true,
    async run({ environment, write, path, names, rejects }) {
      await write("d/a.txt", "one");
      await write("d/a.txt", "two");
      await rejects(environment.writeFile(path("d/a.txt"), Buffer.from("x"), { ifMatch: null }), "conflict");
      await rejects(environment.writeFile(path("d"), Buffer.from("x")), "is_directory");
      assert.deepEqual(await names("d"), ["a.txt"]);
      assert.deepEqual(await names("."), ["d"]);
    },
  },
  {
    name: "the bytes are copied: changing the caller's array later changes nothing",
    id: "M05",
    async run({ write, text }) {
      const data = Buffer.from("hello");
      await write("a.txt", data);
      data.fill(120);
      assert.equal(await text("a.txt"), "hello");
    },
  },
  {
    name: "a part of a larger array is written as that part",
    async run({ write, text }) {
      const large = Buffer.from("....hello....");
      await write("a.txt", new Uint8Array(large.buffer, large.byteOffset + 4, 5));
      assert.equal(await text("a.txt"), "hello");
    },
  },
  {
    name: "a directory is is_directory, by any of its names",
    id: "P02",
    async run({ environment, directory, path, write, rejects }) {
      await write("d/a.txt", "x");
      for (const name of [path("d"), path("d/"), path("d/."), directory, "."]) {
        await rejects(environment.writeFile(name, Buffer.from("x")), "is_directory");
      }
    },
  },
  {
    name: "a new name with a slash behind it is refused, and nothing is made",
    id: "P02",
    async run({ environment, path, names, rejects }) {
      await rejects(environment.writeFile(path("new/"), Buffer.from("x")), "is_directory", "not_directory");
      assert.deepEqual(await names("."), []);
    },
  },
  {
    name: "a parent that is a file is not_directory, and the file stays",
    id: "C21",
    async run({ environment, path, write, text, rejects }) {
      await write("file", "kept");
      await rejects(environment.writeFile(path("file/a.txt"), Buffer.from("x")), "not_directory");
      await rejects(environment.writeFile(path("file/deeper/a.txt"), Buffer.from("x")), "not_directory");
      await rejects(environment.writeFile(path("file/"), Buffer.from("x")), "not_directory");
      assert.equal(await text("file"), "kept");
    },
  },
  {
    name: "the mode of the file is kept, and setuid and setgid are dropped",
    id: "P11",
    needs: ["modes"],
    async run({ environment, path, write, host }) {
      for (const [before, after] of [
        [0o755, 0o755],
        [0o640, 0o640],
        [0o600, 0o600],
        [0o6755, 0o755],
      ] as const) {
        await write("tool.sh", "one");
        await host.chmod(path("tool.sh"), before);
        await write("tool.sh", "two");
        assert.equal((await environment.stat(path("tool.sh"))).mode, after, `mode ${before.toString(8)}`);
      }
    },
  },
  {
    name: "the owner of the file is kept",
    id: "P11",
    needs: ["superuser"],
    async run({ environment, path, write, directory }) {
      await write("theirs", "one");
      await runCommand(environment, "chown 12345:23456 theirs && chmod 640 theirs", { cwd: directory });
      await write("theirs", "two");
      const { stdout } = await runCommand(environment, "stat -c '%u:%g %a' theirs", { cwd: directory });
      assert.equal(stdout.trim(), "12345:23456 640");
      assert.equal((await environment.readFile(path("theirs"))).size, 3);
    },
  },
  {
    name: "a symlink stays a symlink and its referent is written",
    needs: ["symlinks"],
    async run({ environment, path, write, text, host }) {
      await write("real/a.txt", "one");
      await host.symlink("real/a.txt", path("link"));
      await host.symlink("link", path("link-to-link"));
      assert.deepEqual(await write("link-to-link", "two"), { canonicalPath: path("real/a.txt"), created: false });
      assert.equal(await text("real/a.txt"), "two");
      const kinds = new Map((await environment.readdir(path("."))).map(({ name, kind }) => [name, kind]));
      assert.deepEqual([kinds.get("link"), kinds.get("link-to-link")], ["symlink", "symlink"]);
    },
  },
  {
    name: "a new file below a directory symlink is made in the real directory",
    needs: ["symlinks"],
    async run({ path, write, text, host }) {
      await write("real/old", "x");
      await host.symlink("real", path("alias"));
      assert.deepEqual(await write("alias/deep/new", "y"), { canonicalPath: path("real/deep/new"), created: true });
      assert.equal(await text("real/deep/new"), "y");
    },
  },
  {
    name: "a dangling symlink is refused with not_found, at the end and on the way, and nothing is made",
    id: "C21",
    needs: ["symlinks"],
    async run({ environment, path, host, names, rejects }) {
      await host.symlink("nowhere", path("dangling"));
      await rejects(environment.writeFile(path("dangling"), Buffer.from("x")), "not_found");
      await rejects(environment.writeFile(path("dangling"), Buffer.from("x"), { ifMatch: null }), "not_found");
      await rejects(environment.writeFile(path("dangling/a.txt"), Buffer.from("x")), "not_found");
      assert.deepEqual(await names("."), ["dangling"]);
    },
  },
  {
    name: "a circle of symlinks is loop",
    id: "P26",
    needs: ["symlinks"],
    async run({ environment, path, host, rejects }) {
      await host.symlink("b", path("a"));
      await host.symlink("a", path("b"));
      await rejects(environment.writeFile(path("a"), Buffer.from("x")), "loop");
      await rejects(environment.writeFile(path("a/c"), Buffer.from("x")), "loop");
    },
  },
  {
    name: "a FIFO is not_regular at once and stays",
    id: "P24",
    needs: ["specialFiles"],
    async run({ environment, path, host, names, rejects }) {
      await host.fifo(path("fifo"));
      await rejects(environment.writeFile(path("fifo"), Buffer.from("x")), "not_regular");
      assert.equal((await environment.stat(path("fifo"))).kind, "fifo");
      assert.deepEqual(await names("."), ["fifo"]);
    },
  },
  {
    name: "a device is refused at once",
    id: "P23",
    needs: ["processes"],
    async run({ environment, facts, rejects }) {
      await rejects(environment.writeFile("/dev/null", Buffer.from("x")), facts.rooted ? "outside_root" : "not_regular");
    },
  },
  {
    name: "a file with a second name is refused with hard_link by default, and both names keep the bytes",
    id: "P29",
    needs: ["hardLinks"],
    async run({ environment, path, write, text, host, names, rejects }) {
      await write("one", "kept");
      await host.link(path("one"), path("two"));
      await rejects(environment.writeFile(path("one"), Buffer.from("changed")), "hard_link");
      assert.deepEqual([await text("one"), await text("two")], ["kept", "kept"]);
      assert.deepEqual(await names("."), ["one", "two"]);
    },
  },
  {
    name: "what the account may not write is permission_denied, and nothing changes",
    id: "P30",
    needs: ["modes", "ordinaryUser"],
    async run({ environment, path, write, text, host, names, rejects }) {
      await write("closed/a.txt", "kept");
      await host.chmod(path("closed"), 0o555);
      await rejects(environment.writeFile(path("closed/a.txt"), Buffer.from("x")), "permission_denied");
      await rejects(environment.writeFile(path("closed/new.txt"), Buffer.from("x")), "permission_denied");
      await rejects(environment.writeFile(path("closed/deeper/new.txt"), Buffer.from("x")), "permission_denied");
      assert.equal(await text("closed/a.txt"), "kept");
      assert.deepEqual(await names("closed"), ["a.txt"]);
      await host.chmod(path("closed"), 0o755);
    },
  },
  {
    name: "a file without write permission is permission_denied, though its directory could be changed",
    id: "P30",
    needs: ["modes", "ordinaryUser"],
    async run({ environment, path, write, text, host, rejects }) {
      await write("locked", "kept");
      await host.chmod(path("locked"), 0o444);
      await rejects(environment.writeFile(path("locked"), Buffer.from("x")), "permission_denied");
      assert.equal(await text("locked"), "kept");
      assert.equal((await environment.stat(path("locked"))).mode, 0o444);
    },
  },
  {
    name: "a full disk is no_space: the old bytes stay, nothing is left behind, and a small write works",
    id: "R19",
    needs: ["smallDisk"],
    async run({ environment, host, rejects }) {
      const disk = await host.smallDisk?.();
      assert.ok(disk);
      try {
        const file = `${disk.directory}/a.bin`;
        await environment.writeFile(file, Buffer.alloc(1000, 1));
        await rejects(environment.writeFile(file, Buffer.alloc(8 * 1024 * 1024, 2)), "no_space");
        await rejects(environment.writeFile(`${disk.directory}/new/b.bin`, Buffer.alloc(8 * 1024 * 1024, 2)), "no_space");
        assert.ok(Buffer.from((await environment.readFile(file)).data).equals(Buffer.alloc(1000, 1)), "the old bytes");
        assert.deepEqual(
          (await environment.readdir(disk.directory)).filter(({ name }) => name !== "lost+found").map(({ name }) => name),
          ["a.bin"],
        );
        assert.equal((await environment.writeFile(file, Buffer.alloc(2000, 3))).created, false);
      } finally {
        await disk.release();
      }
    },
  },
  {
    name: "a signal that has fired already rejects aborted, and nothing is written",
    quick: true,
    async run({ environment, path, names, rejects }) {
      await rejects(environment.writeFile(path("p/a.txt"), Buffer.from("x"), { signal: AbortSignal.abort() }), "aborted");
      assert.deepEqual(await names("."), []);
    },
  },
  {
    name: "an abort at any moment leaves the old bytes, or the write is acknowledged",
    id: "R32",
    async run({ environment, path, write, names }) {
      const old = Buffer.alloc(1_100_000, 111);
      const fresh = Buffer.alloc(1_300_000, 110);
      for (let delayMs = 0; delayMs < 20; delayMs += 1) {
        await write("d/a.bin", old);
        const controller = new AbortController();
        const timer = setTimeout(() => controller.abort(), delayMs);
        const outcome = await environment.writeFile(path("d/a.bin"), fresh, { signal: controller.signal }).then(
          () => "ok",
          (error: { readonly code?: string }) => error.code,
        );
        clearTimeout(timer);
        const now = Buffer.from((await environment.readFile(path("d/a.bin"))).data);
        const may = outcome === "ok" ? [fresh] : outcome === "aborted" ? [old] : outcome === "unknown_outcome" ? [old, fresh] : [];
        assert.ok(
          may.some((each) => each.equals(now)),
          `abort after ${delayMs} ms: ${outcome}, and the file has ${now.byteLength} bytes`,
        );
        assert.deepEqual(await names("d"), ["a.bin"]);
      }
    },
  },
]);
