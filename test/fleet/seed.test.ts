import { execFileSync } from "node:child_process";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { local } from "../../adapters/local/index.js";
import { memory } from "../../adapters/memory/index.js";
import { openEnvironment } from "../../src/environment.js";
import { type SeedOptions, seed } from "../../src/fleet/index.js";
import { makeScratch, removeScratch } from "../support/scratch.js";
import { END, paxRecord, type RawMember, rawMember, rawTar } from "./tar-maker.js";

const LONG = "n".repeat(90);

const made: string[] = [];
afterAll(async () => {
  for (const path of made) await removeScratch(path);
});

async function directory(): Promise<string> {
  const path = await makeScratch();
  made.push(path);
  return path;
}

async function* piecesOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += size) yield bytes.subarray(at, at + size);
}

/** What is refused, as data: never a byte of it is kept. */
const REFUSED: readonly (readonly [string, string, Uint8Array, SeedOptions["limits"]?])[] = [
  ["../x", "invalid_argument", rawTar({ name: "../x" })],
  ["/x", "invalid_argument", rawTar({ name: "/x" })],
  ["a/../../x", "invalid_argument", rawTar({ name: "a/../../x" })],
  ["a/../x", "invalid_argument", rawTar({ name: "a/../x" })],
  ["no name", "invalid_argument", rawTar({ name: "" })],
  ["a file called .", "invalid_argument", rawTar({ name: "." })],
  ["symlink l->/, then l/x", "invalid_argument", rawTar({ name: "l", type: "2", link: "/" }, { name: "l/x" })],
  ["a hard link to /etc/passwd", "invalid_argument", rawTar({ name: "h", type: "1", link: "/etc/passwd" })],
  ["a character device", "invalid_argument", rawTar({ name: "d", type: "3" })],
  ["a block device", "invalid_argument", rawTar({ name: "d", type: "4" })],
  ["a FIFO", "invalid_argument", rawTar({ name: "f", type: "6" })],
  ["a kind that nobody knows", "invalid_argument", rawTar({ name: "f", type: "Z" })],
  ["the same name twice", "invalid_argument", rawTar({ name: "a" }, { name: "./a" })],
  ["a file, and below it another", "invalid_argument", rawTar({ name: "a" }, { name: "a/b" })],
  ["a directory, then a file of its name", "invalid_argument", rawTar({ name: "a/b" }, { name: "a" })],
  ["a name that is not UTF-8", "invalid_argument", rawTar({ name: Buffer.from([0x61, 0xff]) })],
  ["PAX path=../x", "invalid_argument", rawTar({ name: "p", type: "x", content: paxRecord("path", "../x") }, { name: "fine" })],
  [
    "PAX path=/etc/cron.d/x",
    "invalid_argument",
    rawTar({ name: "p", type: "x", content: paxRecord("path", "/etc/cron.d/x") }, { name: "fine" }),
  ],
  [
    "a global PAX path=/x",
    "invalid_argument",
    rawTar(
      { name: "p", type: "g", content: paxRecord("path", "/x") },
      { name: "p", type: "x", content: paxRecord("mtime", "1") },
      { name: "fine" },
    ),
  ],
  ["a GNU long name ../x", "invalid_argument", rawTar({ name: "L", type: "L", content: "../x\0" }, { name: "fine" })],
  ["a GNU long name of 1 MiB", "too_large", rawTar({ name: "L", type: "L", content: "a/".repeat(512 * 1024) }, { name: "fine" })],
  [
    "a GNU long name of 8 MiB",
    "invalid_argument",
    rawTar({ name: "L", type: "L", content: "a/".repeat(4 * 1024 * 1024) }, { name: "fine" }),
  ],
  ["a name of 256 bytes", "too_large", rawTar({ name: "L", type: "L", content: "a".repeat(256) }, { name: "fine" })],
  ["a sparse file, GNU's", "invalid_argument", rawTar({ name: "s", type: "S" })],
  [
    "a sparse file, PAX's",
    "invalid_argument",
    rawTar({ name: "p", type: "x", content: paxRecord("GNU.sparse.major", "1") }, { name: "s" }),
  ],
  ["a wrong checksum", "invalid_argument", rawTar({ name: "a", badSum: true })],
  ["a truncated last block", "invalid_argument", rawMember({ name: "a", content: "abc" }).subarray(0, 700)],
  ["no end blocks", "invalid_argument", rawMember({ name: "a", content: "abc" })],
  ["no end blocks after zeros", "invalid_argument", rawMember({ name: "a", content: Buffer.alloc(4_096) })],
  ["one end block only", "invalid_argument", Buffer.concat([rawMember({ name: "a" }), Buffer.alloc(512)])],
  ["a size beyond its bytes", "invalid_argument", Buffer.concat([rawMember({ name: "a", size: 1e9 })])],
  ["a size of -1", "invalid_argument", rawTar({ name: "a", rawSize: Buffer.alloc(12, 0xff) })],
  ["a size of -512", "invalid_argument", rawTar({ name: "a", rawSize: Buffer.concat([Buffer.alloc(10, 0xff), Buffer.from([0xfe, 0])]) })],
  [
    "a size beyond all numbers",
    "invalid_argument",
    rawTar({ name: "a", rawSize: Buffer.concat([Buffer.from([0x80]), Buffer.alloc(11, 0xff)]) }),
  ],
  [
    "a long name of negative size",
    "invalid_argument",
    rawTar({ name: "L", type: "L", rawSize: Buffer.alloc(12, 0xff) }, { name: "a", content: "x" }),
  ],
  ["a directory with content", "invalid_argument", rawTar({ name: "a/", type: "5", content: "x".repeat(600) })],
  ["nothing", "invalid_argument", Buffer.alloc(0)],
  ["no archive", "invalid_argument", Buffer.from("PK\x03\x04 and so on".repeat(100))],
  ["rubbish after the end", "invalid_argument", Buffer.concat([rawTar({ name: "a" }), Buffer.from("x".repeat(512))])],
  ["damaged gzip", "invalid_argument", gzipSync(rawTar({ name: "a", content: "abc" })).subarray(0, 40)],
  ["too many files", "too_large", rawTar(...Array.from({ length: 11 }, (_, index) => ({ name: `${index}` }))), { maxFiles: 10 }],
  ["too many directories", "too_large", rawTar({ name: "a/b/c/d/e/f" }), { maxFiles: 5 }],
  ["too many bytes", "too_large", rawTar({ name: "a", content: "x".repeat(20_000) }), { maxBytes: 10_000 }],
  ["too long a path", "too_large", rawTar({ name: "a/b/c" }), { maxPathBytes: 4 }],
];

describe("T-1 an archive", () => {
  it.each(REFUSED.map((row) => ({ title: row[0], row })))("is refused for $title", async ({ row: [, code, archive, limits] }) => {
    for (const pieces of [archive.byteLength || 1, 1_000]) {
      const target = memory();
      await using environment = await openEnvironment(target);
      const refused = seed(environment, { archive: piecesOf(archive, pieces) }, limits === undefined ? {} : { limits });
      await expect(refused).rejects.toMatchObject({ code });
      expect(environment.snapshot("/workspace")).toEqual({});
      expect(await environment.readdir("/")).toHaveLength(3);
    }
  });

  it("is refused for 10^6 empty files", async () => {
    async function* many(): AsyncGenerator<Uint8Array> {
      for (let index = 0; index < 1e6; index += 100)
        yield Buffer.concat(Array.from({ length: 100 }, (_, at) => rawMember({ name: `${index + at}` })));
      yield END;
    }
    await using environment = await openEnvironment(memory());
    await expect(seed(environment, { archive: many() }, { limits: { maxFiles: 20_000 } })).rejects.toMatchObject({
      code: "too_large",
      details: { limit: "maxFiles" },
    });
  });

  it("is refused for 10 GB of zeros, long before they are unpacked", async () => {
    let given = 0;
    async function* bomb(): AsyncGenerator<Uint8Array> {
      yield gzipSync(rawMember({ name: "zeros", size: 10e9 }));
      const zeros = gzipSync(Buffer.alloc(16 * 1024 ** 2));
      for (; given < 640; given += 1) yield zeros;
    }
    await using environment = await openEnvironment(memory());
    await expect(seed(environment, { archive: bomb() }, { limits: { maxBytes: 20e9 } })).rejects.toMatchObject({
      details: { limit: "maxRatio" },
    });
    expect(given).toBeLessThan(640);
  });

  it("is taken for what is harmless, of a mode nothing but the executable bit", async () => {
    const odd: readonly RawMember[] = [
      { name: "./", type: "5" },
      { name: "setuid", content: "s", mode: 0o6755 },
      { name: "A", content: "upper" },
      { name: "a", content: "lower" },
      { name: "\u00e9", content: "NFC" },
      { name: "e\u0301", content: "NFD" },
      { name: "old", content: "negative mtime", rawTime: Buffer.alloc(12, 0xff) },
      { name: "p", type: "x", content: paxRecord("path", `deep/${LONG}/${LONG}`) },
      { name: "short", content: "by PAX" },
      { name: "L", type: "L", content: `far/${LONG}/${LONG}\0` },
      { name: "far", content: "by GNU" },
      { name: " -rf", content: "spaces" },
      { name: "new\nline", content: "" },
    ];
    const expected = {
      setuid: "s",
      A: "upper",
      a: "lower",
      "\u00e9": "NFC",
      "e\u0301": "NFD",
      old: "negative mtime",
      [`deep/${LONG}/${LONG}`]: "by PAX",
      [`far/${LONG}/${LONG}`]: "by GNU",
      " -rf": "spaces",
      "new\nline": "",
    };
    const scratch = await directory();
    const targets = [memory(), local(scratch)];
    for (const target of targets) {
      await using environment = await openEnvironment(target);
      const report = await seed(environment, { archive: gzipSync(rawTar(...odd)) }, { into: "in" });
      expect(report).toEqual({ files: 10, bytes: 49, skipped: [] });
      for (const [path, text] of Object.entries(expected)) {
        expect([path, Buffer.from((await environment.readFile(`in/${path}`)).data).toString()]).toEqual([path, text]);
      }
      expect(await environment.readdir("in")).toHaveLength(10);
      expect((await environment.stat("in/setuid")).mode & 0o6000).toBe(0);
    }
    await using environment = await openEnvironment(targets[1] as ReturnType<typeof local>);
    expect((await environment.stat("in/setuid")).mode).toBe(0o755);
    expect((await environment.stat("in/A")).mode).toBe(0o644);
    await expect(seed(environment, { archive: rawTar({ name: "new" }, { name: "A" }) }, { into: "in" })).rejects.toMatchObject({
      code: "exists",
    });
    expect(await environment.readdir("in")).toHaveLength(10);
  });

  it("of GNU tar's making, links skipped where asked", async () => {
    const scratch = await directory();
    execFileSync("sh", ["-c", "mkdir d empty && echo x >d/x && ln d/x d/hard && ln -s x d/soft && seq 1000000 >big && chmod +x big"], {
      cwd: scratch,
    });
    const archive = execFileSync("tar", ["-C", scratch, "-czf", "-", "."], { maxBuffer: 64 * 1024 ** 2 });
    const into = await directory();
    await using environment = await openEnvironment(local(into));
    await expect(seed(environment, { archive })).rejects.toThrow("make the archive without links, or skip them");
    expect(await environment.readdir(".")).toEqual([]);
    const { files, skipped } = await seed(environment, { archive }, { links: "skip" });
    expect({ files, skipped: skipped.length }).toEqual({ files: 2, skipped: 2 });
    const diff = execFileSync("sh", [
      "-c",
      'cmp "$1/big" "$2/big" && test -x "$2/big" && test -d "$2/empty" && find "$2" | wc -l',
      "sh",
      scratch,
      into,
    ]);
    expect(diff.toString().trim()).toBe("5");
  });

  it("leaves nothing behind when its stream breaks, or the seeding is aborted", async () => {
    const scratch = await directory();
    await using environment = await openEnvironment(local(scratch));
    const controller = new AbortController();
    async function* breaks(error: Error | undefined): AsyncGenerator<Uint8Array> {
      for (let index = 0; index < 40; index += 1) yield rawMember({ name: `f${index}`, content: Buffer.alloc(300_000, 1) });
      if (error !== undefined) throw error;
      controller.abort();
      for (let index = 40; index < 80; index += 1) yield rawMember({ name: `f${index}`, content: Buffer.alloc(300_000, 1) });
      yield END;
    }
    await expect(seed(environment, { archive: breaks(new Error("cable cut")) })).rejects.toThrow(/^cable cut$/);
    expect(await environment.readdir(".")).toEqual([]);
    await expect(seed(environment, { archive: breaks(undefined) }, { signal: controller.signal })).rejects.toMatchObject({
      code: "aborted",
    });
    expect(await environment.readdir(".")).toEqual([]);
  });
});

describe("another environment's directory", () => {
  it("comes from any environment, what is excluded and links left out", async () => {
    const files = { "src/a": "1", "src/deep/b": "22", "node_modules/x": "no", link: { symlink: "src/a" } };
    await using from = await openEnvironment(memory({ files }));
    await using to = await openEnvironment(memory());
    const exclude = (path: string): boolean => path === "node_modules";
    await expect(seed(to, { environment: from })).rejects.toMatchObject({ code: "invalid_argument" });
    expect(await seed(to, { environment: from, exclude }, { links: "skip" })).toEqual({ files: 2, bytes: 3, skipped: ["link"] });
    expect(Object.keys(to.snapshot())).toEqual(["src/a", "src/deep/b"]);
    await expect(seed(to, { environment: from, directory: "src" }, { limits: { maxBytes: 2 } })).rejects.toMatchObject({
      code: "too_large",
    });
    await expect(seed(to, { environment: from, directory: "src" }, { into: "src" })).rejects.toMatchObject({ code: "exists" });
  });
});

describe("a repository", () => {
  it.each([
    ["ext::sh -c touch% /tmp/pwned", /must begin with one of https:\/\/, ssh:\/\//],
    ["file:///etc", /must begin/],
    ["/etc", /must begin/],
    ["git@host:path", /must begin/],
    ["git://host/path", /must begin/],
    ["--upload-pack=x", /must begin/],
    ["https://user:secret@host/path", /password/],
    ["ssh://-oProxyCommand=x/path", /host|must begin/],
    ["https://host/a b", /must begin/],
  ])("%s is refused", async (git, message) => {
    await using environment = await openEnvironment(memory());
    await expect(seed(environment, { git })).rejects.toThrow(message);
  });

  it("is refused for a ref that would be an option, and where no commands run", async () => {
    await using environment = await openEnvironment(memory());
    await expect(seed(environment, { git: "https://host/x", ref: "--upload-pack=x" })).rejects.toMatchObject({ code: "invalid_argument" });
    await expect(seed(environment, { git: "https://host/x" })).rejects.toMatchObject({ code: "unsupported" });
  });
});
