import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, statSync, symlinkSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { openPosix, outputOf } from "./open-posix.js";
import { poorPath } from "./poor-path.js";

const on = (path: string) => ({ transport: { env: { PATH: path, HOME: "/" } } });
const sha256 = (data: Uint8Array): string => createHash("sha256").update(data).digest("hex");

describe("a target with what POSIX has and nothing else", () => {
  it("does all verbs, searches by walking, and says what is missing", async () => {
    const { connection, directory } = await openPosix(on(poorPath({})));
    const { facts, capabilities } = connection;
    expect([facts.stat, facts.hasher, facts.programs.has("setsid"), facts.programs.has("bash")]).toEqual([false, undefined, false, false]);
    expect(capabilities).toMatchObject({ exec: true, shell: "sh", grep: "grep", find: "find" });
    const { warnings } = await connection.describe();
    expect(warnings.join("\n")).toMatch(/no setsid.*no stat -c.*nothing to compute a SHA-256/s);

    const data = randomBytes(200_000);
    expect(await connection.writeFile(`${directory}/d/a.bin`, data)).toEqual({ canonicalPath: `${directory}/d/a.bin`, created: true });
    expect(Buffer.from((await connection.readFile(`${directory}/d/a.bin`)).data).equals(data)).toBe(true);
    const stat = await connection.stat(`${directory}/d/a.bin`);
    expect({ ...stat, mtimeMs: Math.floor(stat.mtimeMs / 1000) }).toEqual({
      kind: "file",
      size: 200_000,
      mode: 0o644,
      mtimeMs: Math.floor(statSync(`${directory}/d/a.bin`).mtimeMs / 1000),
      canonicalPath: `${directory}/d/a.bin`,
    });
    expect((await connection.stat("/tmp")).mode).toBe(0o1777);
    mkdirSync(`${directory}/e`);
    symlinkSync("../d/a.bin", `${directory}/e/link`);
    expect(await connection.readdir(`${directory}/e`)).toEqual([
      { name: "link", kind: "symlink", linkTarget: "../d/a.bin", linkKind: "file" },
    ]);
    await expect(connection.writeFile(`${directory}/d/a.bin`, data, { ifMatch: sha256(data) })).rejects.toMatchObject({
      code: "unsupported",
    });
    await connection.writeFile(`${directory}/d/new`, data, { ifMatch: null });
    expect(await outputOf(connection, "cat; echo there", { stdin: Buffer.from("here\n") })).toBe("here\nthere\n");
  });

  it("keeps the mode of a file by copying it", async () => {
    const { connection, directory } = await openPosix(on(poorPath({})));
    await connection.writeFile(`${directory}/a`, Buffer.from("one"));
    await outputOf(connection, `chmod 750 ${directory}/a`);
    await connection.writeFile(`${directory}/a`, Buffer.from("two"));
    await connection.writeFile(`${directory}/a`, randomBytes(1_400_000));
    expect(statSync(`${directory}/a`).mode & 0o7777).toBe(0o750);
    await outputOf(connection, `ln ${directory}/a ${directory}/b`);
    await expect(connection.writeFile(`${directory}/a`, Buffer.from("x"))).rejects.toMatchObject({ code: "hard_link" });
  });

  it("kills without sessions", async () => {
    const { connection } = await openPosix(on(poorPath({})));
    const controller = new AbortController();
    const run = connection.exec("echo ready; trap '' TERM; sleep 300 & sleep 301 & wait", {
      signal: controller.signal,
      onOutput: () => controller.abort(),
    });
    await expect(run).rejects.toMatchObject({ code: "aborted" });
  });
});

const REFUSES = (operand: string): string => `case "$*" in *${operand}*) echo "dd: unknown operand" >&2; exit 1 ;; esac\nexec "$REAL" "$@"`;

describe("F12 payloads are taken off the stream exactly", () => {
  it.each([
    ["dd that knows nothing of full blocks", REFUSES("iflag"), "ibs=1 obs=65536 count=4"],
    ["dd that has one block size only", REFUSES("[io][bf][sl]"), "bs=1 count=4"],
    [
      "dd that takes iflag and does not heed it",
      `for word do shift; case $word in iflag=*) ;; *) set -- "$@" "$word" ;; esac; done\nexec "$REAL" "$@"`,
      "ibs=1 obs=65536 count=4",
    ],
  ])("by a %s", async (_what, wrapper, operands) => {
    const { connection, directory } = await openPosix(on(poorPath({ and: ["stat", "sha256sum", "setsid"], wrappers: { dd: wrapper } })));
    expect(connection.facts.dd).toBe(operands);
    const contents = [0, 1, 2, 511, 4097, 65_537].map((size) => randomBytes(size));
    await Promise.all(contents.map((data, index) => connection.writeFile(`${directory}/${index}`, data)));
    for (const [index, data] of contents.entries()) {
      expect(Buffer.from((await connection.readFile(`${directory}/${index}`)).data).equals(data)).toBe(true);
      await connection.writeFile(`${directory}/${index}`, data, { ifMatch: sha256(data) });
    }
    expect(await outputOf(connection, "wc -c", { stdin: randomBytes(5000) })).toMatch(/^ *5000\n$/);
  });

  it("or not at all: without such a dd, writing is unsupported", async () => {
    const { connection, directory } = await openPosix(on(poorPath({ and: ["stat"], wrappers: { dd: "exit 1" } })));
    await expect(connection.writeFile(`${directory}/a`, Buffer.from("x"))).rejects.toMatchObject({ code: "unsupported" });
  });
});

describe("a target where nothing can be kept", () => {
  it("S19 reads, and refuses to write and to run, with the reason", async () => {
    const { connection } = await openPosix(on(poorPath({ without: ["mkdir"] })));
    if (connection.facts.privateDirectory !== undefined) return;
    await expect(connection.writeFile("/tmp/x", Buffer.from("x"))).rejects.toMatchObject({ code: "unsupported" });
    await expect(connection.exec("true")).rejects.toMatchObject({ code: "unsupported" });
  });

  it("without mkfifo no command is run, and files are as ever", async () => {
    const { connection, directory } = await openPosix(on(poorPath({ without: ["mkfifo"], and: ["stat"] })));
    expect(connection.capabilities.exec).toBe(false);
    await expect(connection.exec("true")).rejects.toMatchObject({ code: "unsupported" });
    await connection.writeFile(`${directory}/a`, Buffer.from("x"));
    expect((await connection.stat(`${directory}/a`)).size).toBe(1);
  });
});
