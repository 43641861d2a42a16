import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { openPosix, outputOf } from "./open-posix.js";
import { scratchDirectory } from "./posix-target.js";
import { shells } from "./shells.js";
import { mountSmallDisk } from "./small-disk.js";

describe.skipIf(process.getuid?.() !== 0)("R19 a full disk", () => {
  it.each(Object.entries(shells))(
    "under %s: payloads come off the stream, every call gets its own answer, the old bytes stay",
    async (_name, shell) => {
      const disk = mountSmallDisk("1m");
      try {
        const { connection, directory } = await openPosix({ shell });
        await connection.writeFile(`${directory}/here`, Buffer.from("fine"));
        const old = randomBytes(100_000);
        await connection.writeFile(`${disk.directory}/old`, old);
        writeFileSync(`${disk.directory}/filler`, Buffer.alloc(800_000));
        const calls = Array.from({ length: 24 }, async (_, index) => {
          if (index % 3 === 0) return Buffer.from((await connection.readFile(`${directory}/here`)).data).toString();
          const path = index % 3 === 1 ? `${disk.directory}/new-${index}/file` : `${disk.directory}/old`;
          // One that fits on a shared lane, and one that goes in pieces.
          return await connection.writeFile(path, Buffer.alloc(index % 2 === 0 ? 250_000 : 1_200_000, 0)).then(
            () => "written",
            (error: { readonly code: string }) => error.code,
          );
        });
        const outcomes = await Promise.all(calls);
        expect(outcomes.map((outcome, index) => (index % 3 === 0 ? outcome : outcome === "no_space"))).toEqual(
          outcomes.map((_, index) => (index % 3 === 0 ? "fine" : true)),
        );
        expect(readdirSync(disk.directory).sort()).toEqual(["filler", "old"]);
        expect(Buffer.from((await connection.readFile(`${disk.directory}/old`)).data).equals(old)).toBe(true);
        await connection.writeFile(`${disk.directory}/small`, Buffer.from("small"));
      } finally {
        disk.release();
      }
    },
  );

  it("no inode left: no_space, and nothing is left behind", async () => {
    const disk = mountSmallDisk("1m,nr_inodes=6");
    try {
      const { connection } = await openPosix();
      for (let index = 0; index < 5; index += 1) writeFileSync(`${disk.directory}/${index}`, "");
      await expect(connection.writeFile(`${disk.directory}/one-more`, Buffer.from("x"))).rejects.toMatchObject({ code: "no_space" });
      await expect(connection.writeFile(`${disk.directory}/d/one-more`, Buffer.from("x"))).rejects.toMatchObject({ code: "no_space" });
      expect(readdirSync(disk.directory).sort()).toEqual(["0", "1", "2", "3", "4"]);
    } finally {
      disk.release();
    }
  });
});

describe("odd places", () => {
  it("P14 two thousand nested directories are written, read, found and searched", async () => {
    const { connection, directory } = await openPosix();
    const deep = "d/".repeat(Math.floor((4095 - directory.length - 2) / 2));
    await connection.writeFile(`${directory}/${deep}f`, Buffer.from("needle\n"));
    expect(deep.length / 2).toBeGreaterThan(2000);
    expect(Buffer.from((await connection.readFile(`${directory}/${deep}f`)).data).toString()).toBe("needle\n");
    expect((await connection.find?.(directory, { pattern: "f", limit: 5 }))?.paths).toEqual([{ path: `${deep}f`, kind: "file" }]);
    expect((await connection.grep?.(directory, { pattern: "needle", limit: 5 }))?.matches).toBe(1);
    await expect(connection.writeFile(`${directory}/${deep}dd/f`, Buffer.from("x"))).rejects.toMatchObject({ code: "invalid_argument" });
  });

  it("P22 what the kernel makes up is refused at once", async () => {
    const { connection } = await openPosix();
    for (const path of ["/proc/kmsg", "/proc/self/environ", "/proc/self/mem", "/dev/stdin", "/dev/fd/3", "/sys/kernel/uevent_seqnum"]) {
      await expect(connection.readFile(path), path).rejects.toMatchObject({ code: expect.stringMatching(/^(not_regular|not_found)$/) });
      await expect(connection.writeFile(path, Buffer.from("x")), path).rejects.toMatchObject({
        code: expect.stringMatching(/^(not_regular|not_found|permission_denied)$/),
      });
    }
  });

  it("names that are no UTF-8 are listed and harm nobody", async () => {
    const directory = scratchDirectory();
    mkdirSync(Buffer.concat([Buffer.from(`${directory}/d`), Buffer.from([0xff, 0x2f])]));
    writeFileSync(Buffer.concat([Buffer.from(`${directory}/f`), Buffer.from([0x80])]), "x");
    const { connection } = await openPosix();
    expect((await connection.readdir(directory)).map(({ name, kind }) => [name, kind]).sort()).toEqual([
      ["d\uFFFD", "directory"],
      ["f\uFFFD", "file"],
    ]);
    await outputOf(connection, `rm -rf ${directory}`);
  });

  it("a log that grows is read, a file that is rewritten in place without pause is of one moment or busy", async () => {
    const { connection, directory } = await openPosix();
    const stop = new AbortController();
    const growing = connection.exec("i=0; while :; do i=$((i+1)); echo $i; done > log", { signal: stop.signal });
    const rewriting = connection.exec("while :; do printf '%020000d' 1 > moving; printf '%020000d' 2 > moving; done", {
      signal: stop.signal,
    });
    growing.catch(() => undefined);
    rewriting.catch(() => undefined);
    await connection.exec("until [ -s log ] && [ -s moving ]; do sleep 0.05; done");
    for (let turn = 0; turn < 5; turn += 1) {
      const lines = Buffer.from((await connection.readFile(`${directory}/log`)).data)
        .toString()
        .split("\n")
        .slice(0, -1);
      expect(lines).toEqual(lines.map((_, index) => String(index + 1)));
      const moving = await connection.readFile(`${directory}/moving`).then(
        ({ data }) => Buffer.from(data).toString(),
        (error: { readonly code: string }) => error.code,
      );
      expect(moving).toMatch(/^(0*[12]?|busy)$/);
    }
    stop.abort();
    await Promise.allSettled([growing, rewriting]);
  });
});
