import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { appendByMatch, checkAppends, runAppends, seededRandom } from "../../../src/testing/index.js";
import { describeTarget } from "../../support/describe-target.js";
import { startProxy } from "../../support/proxy.js";
import { runCommand } from "../../support/run-command.js";
import { type SshServer, startSshd } from "../../support/sshd.js";
import { codeOf, open, targetFor, text } from "./scene.js";

const isRoot = process.getuid?.() === 0;

describeTarget("ssh", "SFTP, where no shell answers", () => {
  let server: SshServer;
  let withShell: SshServer;
  beforeAll(async () => {
    [server, withShell] = await Promise.all([startSshd({ config: ["ForceCommand internal-sftp"] }), startSshd()]);
  });
  afterAll(async () => {
    await server?.stop();
    await withShell?.stop();
  });
  const locksOf = (): string => `/tmp/.glovebox-${server.account.uid}`;
  const own = (path: string): Promise<unknown> => runCommand("chown", ["-h", `${server.account.uid}:${server.account.gid}`, path]);

  it("J1 shares the locks of those that have one: nothing is lost between them", async () => {
    const files = [await open(targetFor(server)), await open(targetFor(withShell, withShell, { cwd: server.workspace }))];
    await runCommand("chmod", ["777", server.workspace]);
    const path = join(server.workspace, "history");
    await files[0]?.writeFile(path, Buffer.from(""));
    const history = await runAppends({
      files: { [path]: [path] },
      clients: 4,
      operationsPerClient: 5,
      append: (alias, token, client) => appendByMatch(files[client % 2] ?? (files[0] as (typeof files)[0]), alias, token),
      random: seededRandom(1),
    });
    expect(checkAppends(history, { [path]: await readFile(path, "utf8") })).toEqual([]);
    expect(history.every(({ outcome }) => outcome === "acknowledged")).toBe(true);
    expect((await readdir(locksOf())).filter((name) => name.includes("history"))).toEqual([]);
  });

  it("J5 breaks the lock of a process that is provably dead, and no other", { timeout: 120_000 }, async () => {
    const environment = await open(targetFor(server));
    const boot = (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
    const path = join(server.workspace, "locked");
    const lock = join(locksOf(), `lock-${path.replaceAll("/", "%2F")}`);
    await environment.writeFile(path, Buffer.from("old"));
    for (const dead of ["another-boot:1:2:3", `${boot}:4026531836:4194304:1`]) {
      await symlink(dead.replace("4026531836", (await namespace()).toString()), lock);
      await own(lock);
      await environment.writeFile(path, Buffer.from(dead));
      expect(await readFile(path, "utf8")).toBe(dead);
    }
    await symlink(`${boot}:${await namespace()}:${process.pid}:${await startTime(process.pid)}`, lock);
    await own(lock);
    expect(await codeOf(environment.writeFile(path, Buffer.from("stolen")))).toBe("busy");
    await runCommand("rm", [lock]);
    expect((await readdir(server.workspace)).filter((name) => name.startsWith(".glovebox-tmp"))).toEqual([]);
  });

  it("S14 P24 a FIFO holds nobody up, not even one that a file was swapped for", async () => {
    const environment = await open(targetFor(server));
    const fifo = join(server.workspace, "fifo");
    await runCommand("mkfifo", [fifo]);
    expect(await codeOf(environment.readFile("fifo"))).toBe("not_regular");
    expect(await codeOf(environment.writeFile("fifo", Buffer.from("x")))).toBe("not_regular");
    expect((await environment.stat("fifo")).kind).toBe("fifo");
    expect((await environment.grep(".", { pattern: "x", limit: 5 })).matches).toBe(0);
  });

  it("S13 R15 a link that is cut at any byte leaves the old or the new, and settles", async () => {
    await using proxy = await startProxy(server);
    const environment = await open(targetFor(server, proxy));
    const random = seededRandom(7);
    const size = 400_000;
    let current = Buffer.alloc(size, "0");
    await environment.writeFile("torn", current);
    for (let round = 1; round <= 15; round += 1) {
      const next = Buffer.alloc(size, String.fromCharCode(48 + round));
      const cut = proxy.cutAfter(Math.floor(random() * size * 1.1), random() < 0.8 ? "toServer" : "toClient");
      const outcome = await codeOf(environment.writeFile("torn", next));
      const now = await readFile(join(server.workspace, "torn"));
      expect(
        [current, next].some((each) => each.equals(now)),
        `round ${round}: ${outcome}`,
      ).toBe(true);
      if (outcome.startsWith("resolved")) expect(now.equals(next)).toBe(true);
      else expect(["disconnected", "unknown_outcome", "timeout"]).toContain(outcome);
      current = now;
      proxy.cut();
      void cut;
      expect((await environment.readFile("torn")).size).toBe(size);
    }
  });

  it("a file's old content survives a disk that is full", async ({ skip }) => {
    if (!isRoot) skip("mounting takes root");
    const directory = join(server.workspace, "small");
    await mkdir(directory);
    await runCommand("mount", ["-t", "tmpfs", "-o", "size=256k,mode=777", "tmpfs", directory]);
    try {
      const environment = await open(targetFor(server));
      await environment.writeFile("small/a", Buffer.from("old"));
      expect(await codeOf(environment.writeFile("small/a", Buffer.alloc(1_000_000, "x")))).toBe("no_space");
      expect(text((await environment.readFile("small/a")).data)).toBe("old");
      expect((await environment.readdir("small")).map(({ name }) => name)).toEqual(["a"]);
      await environment.writeFile("small/b", Buffer.from("fits"));
      await environment.close();
    } finally {
      await runCommand("umount", [directory]);
    }
  });

  it("reading is of one moment, or says that it cannot be", async () => {
    const environment = await open(targetFor(server));
    const path = join(server.workspace, "changing");
    const versions = ["a", "b"].map((letter) => Buffer.alloc(3_000_000, letter));
    await writeFile(path, versions[0] ?? "");
    let writing = true;
    const writer = (async () => {
      for (let turn = 1; writing; turn += 1) {
        await writeFile(`${path}.next`, versions[turn % 2] ?? "");
        await rename(`${path}.next`, path);
      }
    })();
    for (let round = 0; round < 10; round += 1) {
      const { data } = await environment.readFile(path);
      expect(versions.some((each) => each.equals(data))).toBe(true);
    }
    writing = false;
    await writer;
    await own(path);
    const hash = createHash("sha256")
      .update(await readFile(path))
      .digest("hex");
    await environment.writeFile(path, Buffer.from("done"), { ifMatch: hash });
    expect(await codeOf(environment.writeFile(path, Buffer.from("again"), { ifMatch: hash }))).toBe("conflict");
  });

  async function namespace(): Promise<number> {
    const { stdout } = await runCommand("readlink", ["/proc/self/ns/pid"]);
    return Number(/\d+/.exec(stdout)?.[0]);
  }

  async function startTime(pid: number): Promise<string> {
    const stat = await readFile(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  }
});
