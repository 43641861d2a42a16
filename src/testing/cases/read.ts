import assert from "node:assert/strict";
import { casesOf } from "../contract-case.js";

const bytes = (data: Uint8Array): readonly number[] => [...data];

export const readCases = casesOf("read", [
  {
    name: "readFile returns all bytes, the size and the canonical path",
    quick: true,
    async run({ environment, path, write }) {
      await write("a.bin", Uint8Array.of(0, 255, 10, 13, 0, 128));
      const read = await environment.readFile(path("a.bin"));
      assert.deepEqual(bytes(read.data), [0, 255, 10, 13, 0, 128]);
      assert.equal(read.size, 6);
      assert.equal(read.canonicalPath, path("a.bin"));
      assert.equal(read.totalLines, undefined);
    },
  },
  {
    name: "readFile of an empty file returns no bytes",
    async run({ environment, path, write }) {
      await write("empty", "");
      const read = await environment.readFile(path("empty"));
      assert.equal(read.data.byteLength, 0);
      assert.equal(read.size, 0);
    },
  },
  {
    name: "a relative path starts at the working directory",
    quick: true,
    async run({ environment, directory, write }) {
      await write("a.txt", "here");
      assert.ok(directory.startsWith(`${environment.cwd === "/" ? "" : environment.cwd}/`), "the case's directory is below the cwd");
      const relative = directory.slice(environment.cwd === "/" ? 1 : environment.cwd.length + 1);
      const read = await environment.readFile(`${relative}/a.txt`);
      assert.equal(read.canonicalPath, `${directory}/a.txt`);
    },
  },
  {
    name: "`bytes` returns that slice only, with the size of the whole file",
    quick: true,
    async run({ environment, path, write }) {
      await write("a.txt", "0123456789");
      const slice = async (offset: number, length: number): Promise<string> => {
        const read = await environment.readFile(path("a.txt"), { bytes: { offset, length } });
        assert.equal(read.size, 10);
        return Buffer.from(read.data).toString();
      };
      assert.equal(await slice(0, 3), "012");
      assert.equal(await slice(4, 2), "45");
      assert.equal(await slice(0, 0), "");
      assert.equal(await slice(0, 10), "0123456789");
    },
  },
  {
    name: "`bytes` past the end returns what is there",
    id: "C01",
    async run({ environment, path, write }) {
      await write("a.txt", "0123456789");
      const slice = async (offset: number, length: number): Promise<string> =>
        Buffer.from((await environment.readFile(path("a.txt"), { bytes: { offset, length } })).data).toString();
      assert.equal(await slice(8, 100), "89");
      assert.equal(await slice(10, 1), "");
      assert.equal(await slice(1_000_000_000, 5), "");
    },
  },
  {
    name: "slices across block borders are exact",
    async run({ environment, path, write }) {
      const data = Uint8Array.from({ length: 200_000 }, (_, index) => (index * 7) % 251);
      await write("a.bin", data);
      for (const [offset, length] of [
        [4095, 2],
        [65_535, 3],
        [131_071, 60_000],
        [199_999, 1],
      ] as const) {
        const read = await environment.readFile(path("a.bin"), { bytes: { offset, length } });
        assert.ok(Buffer.from(read.data).equals(data.subarray(offset, offset + length)), `bytes ${offset}+${length}`);
      }
    },
  },
  {
    name: "offsets, lengths, starts and counts that are no whole number in range are refused",
    id: "C01",
    async run({ environment, path, write, rejects }) {
      await write("a.txt", "x\n");
      for (const wrong of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
        await rejects(environment.readFile(path("a.txt"), { bytes: { offset: wrong, length: 1 } }), "invalid_argument");
        await rejects(environment.readFile(path("a.txt"), { bytes: { offset: 0, length: wrong } }), "invalid_argument");
        await rejects(environment.readFile(path("a.txt"), { lines: { start: wrong, count: 1 } }), "invalid_argument");
        await rejects(environment.readFile(path("a.txt"), { lines: { start: 1, count: wrong } }), "invalid_argument");
      }
      await rejects(environment.readFile(path("a.txt"), { lines: { start: 0, count: 1 } }), "invalid_argument");
      await rejects(environment.readFile(path("a.txt"), { lines: { start: 1, count: 0 } }), "invalid_argument");
    },
  },
  {
    name: "the bytes are the caller's own copy",
    id: "M05",
    quick: true,
    async run({ environment, path, write, text }) {
      await write("a.txt", "hello");
      const read = await environment.readFile(path("a.txt"));
      read.data.fill(0);
      assert.equal(await text("a.txt"), "hello");
    },
  },
  {
    name: "a missing file is not_found, and the error names target, verb and path",
    quick: true,
    async run({ environment, path, rejects }) {
      const error = await rejects(environment.readFile(path("missing")), "not_found");
      assert.equal(error.verb, "readFile");
      assert.equal(error.path, path("missing"));
      assert.equal(error.target, environment.label);
      await rejects(environment.readFile(path("no/such/directory")), "not_found");
    },
  },
  {
    name: "a directory is is_directory",
    id: "P02",
    quick: true,
    async run({ environment, directory, rejects }) {
      await rejects(environment.readFile(directory), "is_directory");
      await rejects(environment.readFile(`${directory}/`), "is_directory");
      await rejects(environment.readFile("."), "is_directory");
    },
  },
  {
    name: "a file with a slash behind it, or used as a directory, is not_directory",
    id: "P25",
    async run({ environment, path, write, rejects }) {
      await write("file", "x");
      await rejects(environment.readFile(path("file/")), "not_directory");
      await rejects(environment.readFile(path("file/below")), "not_directory");
    },
  },
  {
    name: "a symlink is followed, and the canonical path is that of its referent",
    needs: ["symlinks"],
    async run({ environment, path, write, host, text }) {
      await write("real/a.txt", "referent");
      await host.symlink("real/a.txt", path("link"));
      await host.symlink("real", path("directory-link"));
      assert.equal(await text("link"), "referent");
      assert.equal((await environment.readFile(path("link"))).canonicalPath, path("real/a.txt"));
      assert.equal((await environment.readFile(path("directory-link/a.txt"))).canonicalPath, path("real/a.txt"));
    },
  },
  {
    name: "`..` behind a symlink means the parent of where it leads",
    id: "P28",
    needs: ["symlinks"],
    async run({ environment, path, write, host }) {
      await write("outer/inner/a.txt", "inner");
      await write("outer/b.txt", "of the referent's parent");
      await write("b.txt", "of the link's parent");
      await host.symlink("outer/inner", path("link"));
      const read = await environment.readFile(path("link/../b.txt"));
      assert.equal(Buffer.from(read.data).toString(), "of the referent's parent");
      assert.equal(read.canonicalPath, path("outer/b.txt"));
    },
  },
  {
    name: "a broken symlink is not_found",
    needs: ["symlinks"],
    async run({ environment, path, host, rejects }) {
      await host.symlink("nowhere", path("broken"));
      await rejects(environment.readFile(path("broken")), "not_found");
    },
  },
  {
    name: "a circle of symlinks, and a chain of 41, are loop",
    id: "P26",
    needs: ["symlinks"],
    async run({ environment, path, write, host, rejects }) {
      await host.symlink("b", path("a"));
      await host.symlink("a", path("b"));
      await rejects(environment.readFile(path("a")), "loop");
      await write("end", "x");
      await host.symlink("end", path("link-1"));
      for (let link = 2; link <= 41; link += 1) await host.symlink(`link-${link - 1}`, path(`link-${link}`));
      await rejects(environment.readFile(path("link-41")), "loop");
    },
  },
  {
    name: "a FIFO is not_regular at once, in every form of a read",
    id: "P24",
    needs: ["specialFiles"],
    async run({ environment, path, host, rejects }) {
      await host.fifo(path("fifo"));
      await rejects(environment.readFile(path("fifo")), "not_regular");
      await rejects(environment.readFile(path("fifo"), { bytes: { offset: 0, length: 1 } }), "not_regular");
      await rejects(environment.readFile(path("fifo"), { lines: { start: 1, count: 1 } }), "not_regular");
      const again = Array.from({ length: 8 }, () => rejects(environment.readFile(path("fifo")), "not_regular"));
      await Promise.all(again);
    },
  },
  {
    name: "an endless device is refused at once",
    id: "P23",
    needs: ["processes"],
    async run({ environment, facts, rejects }) {
      const code = facts.rooted ? "outside_root" : "not_regular";
      await rejects(environment.readFile("/dev/zero"), code);
      await rejects(environment.readFile("/dev/zero", { bytes: { offset: 0, length: 10 } }), code);
    },
  },
  {
    name: "a file that the account may not read is permission_denied",
    id: "P30",
    needs: ["modes", "ordinaryUser"],
    async run({ environment, path, write, host, rejects }) {
      await write("secret", "x");
      await host.chmod(path("secret"), 0);
      await rejects(environment.readFile(path("secret")), "permission_denied");
      await write("closed/a.txt", "x");
      await host.chmod(path("closed"), 0o600);
      await rejects(environment.readFile(path("closed/a.txt")), "permission_denied");
      await host.chmod(path("closed"), 0o755);
    },
  },
  {
    name: "a whole read beyond 256 MiB is too_large, and a slice of it is not",
    needs: ["processes"],
    async run({ environment, path, host, rejects }) {
      await host.mkdir(path("big"));
      await environment.exec("truncate -s 257M big.bin 2>/dev/null || dd if=/dev/zero of=big.bin bs=1 count=0 seek=269484032", {
        cwd: path("big"),
      });
      await rejects(environment.readFile(path("big/big.bin")), "too_large");
      const slice = await environment.readFile(path("big/big.bin"), { bytes: { offset: 269_484_000, length: 1000 } });
      assert.equal(slice.data.byteLength, 32);
      assert.equal(slice.size, 269_484_032);
    },
  },
  {
    name: "a read is of one moment while the file is being rewritten",
    id: "R28",
    async run({ environment, path, write, reopen }) {
      const versions = ["a", "b", "c"].map((letter) => Buffer.from(`${letter.repeat(99)}\n`.repeat(2000)));
      await write("moving", versions[0] ?? "");
      const writer = await reopen();
      let stopped = false;
      const writes = (async () => {
        for (let turn = 1; turn <= 40 && !stopped; turn += 1) await writer.writeFile(path("moving"), versions[turn % 3] ?? Buffer.of());
        stopped = true;
      })();
      try {
        for (let reads = 0; reads < 5 || !stopped; reads += 1) {
          const whole = Buffer.from((await environment.readFile(path("moving"))).data);
          assert.ok(
            versions.some((version) => version.equals(whole)),
            `read ${reads} mixes two versions (${whole.byteLength} bytes)`,
          );
          const { data, totalLines } = await environment.readFile(path("moving"), { lines: { start: 1500, count: 2 } });
          assert.equal(totalLines, 2000);
          assert.equal(new Set(data).size, 2, "two lines of one version hold one letter and line feeds");
        }
      } finally {
        stopped = true;
        await writes;
      }
    },
  },
  {
    name: "a signal that has fired already rejects aborted, one for a timeout rejects timeout",
    quick: true,
    async run({ environment, path, write, rejects }) {
      await write("a.txt", "x");
      await rejects(environment.readFile(path("a.txt"), { signal: AbortSignal.abort() }), "aborted");
      const late = AbortSignal.abort(new DOMException("too late", "TimeoutError"));
      await rejects(environment.readFile(path("a.txt"), { signal: late }), "timeout");
    },
  },
]);
