import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, chownSync, lstatSync, readlinkSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { lockFile, lockName, sweepLocks } from "../../../adapters/local/lock.js";
import { isProvablyDead, ownerOfThisProcess, ownerText, parseOwner } from "../../../adapters/local/owner.js";
import { openPrivateDirectory } from "../../../adapters/local/private-directory.js";
import { describeTarget } from "../../support/describe-target.js";
import { afterwards, bytes, codeOf, makeScene, open } from "./scene.js";

/** A pid that was somebody's and is nobody's. */
function deadPid(): number {
  return spawnSync("true").pid;
}

/** Puts the lock of a file into somebody's hands; returns its path. */
function holdFor(path: string, owner: string): string {
  const lock = join(openPrivateDirectory(), lockName(path));
  symlinkSync(owner, lock);
  afterwards(() => existsLink(lock) && unlinkSync(lock));
  return lock;
}

function existsLink(path: string): boolean {
  try {
    readlinkSync(path);
    return true;
  } catch {
    return false;
  }
}

const own = ownerOfThisProcess();

describeTarget("local", "the lock of a file", () => {
  it("has a name that every process computes alike", () => {
    expect(lockName("/srv/app/a%b.txt")).toBe("lock-%2Fsrv%2Fapp%2Fa%25b.txt");
    expect(lockName("/%2F")).toBe("lock-%2F%252F");
    expect(lockName(`/${"a".repeat(192)}`)).toBe(`lock-%2F${"a".repeat(192)}`);
    const long = `/${"a".repeat(193)}`;
    expect(lockName(long)).toBe(`lock-sha256-${createHash("sha256").update(long).digest("hex")}`);
    const wide = `/${"ä".repeat(97)}`;
    expect(lockName(wide)).toBe(`lock-sha256-${createHash("sha256").update(wide).digest("hex")}`);
  });

  it("says who holds it, and is gone afterwards", async () => {
    const { root } = makeScene();
    const path = join(root, "f");
    const lock = join(openPrivateDirectory(), lockName(path));
    const release = await lockFile(path);
    expect(readlinkSync(lock)).toBe(ownerText(own));
    expect(readlinkSync(lock)).toMatch(/^[0-9a-f-]{36}:\d+:\d+:\d+$/);
    release();
    expect(existsLink(lock)).toBe(false);
  });

  it("is taken by one at a time, in order, and an aborted waiter leaves the others their turn", async () => {
    const { root } = makeScene();
    const path = join(root, "f");
    const order: string[] = [];
    const first = await lockFile(path);
    const controller = new AbortController();
    const take = async (name: string, signal?: AbortSignal): Promise<void> => {
      const release = await lockFile(path, { signal });
      order.push(name);
      await new Promise((resolve) => setTimeout(resolve, 5));
      order.push(`${name} done`);
      release();
    };
    const waiting = [take("a"), codeOf(take("aborted", controller.signal)), take("b")];
    controller.abort();
    expect(await waiting[1]).toBe("aborted");
    expect(order).toEqual([]);
    first();
    await Promise.all(waiting);
    expect(order).toEqual(["a", "a done", "b", "b done"]);
  });

  it("a waiter gives up with busy, whether a process or a stranger's garbage holds it", async () => {
    const { root } = makeScene();
    const path = join(root, "f");
    for (const owner of [`${own.bootId}:${own.pidNamespace}:1:${parseOwnerOfInit()}`, "garbage", `${own.bootId}:1:${deadPid()}:77`]) {
      const lock = holdFor(path, owner);
      const error = await lockFile(path, { patienceMs: 120 }).catch((caught: unknown) => caught);
      expect(error, owner).toMatchObject({ code: "busy", details: { lock } });
      expect(readlinkSync(lock)).toBe(owner);
      unlinkSync(lock);
    }
    const release = await lockFile(path);
    expect(await codeOf(lockFile(path, { patienceMs: 50 }))).toBe("busy");
    release();
    (await lockFile(path))();
  });

  it("J5 is broken only when its holder is provably dead, and what that one left is removed", async () => {
    const { root } = makeScene();
    const environment = await open(root);
    const pid = deadPid();
    for (const owner of [
      `${own.bootId}:${own.pidNamespace}:${pid}:77`,
      "another-boot:1:1:1",
      `${own.bootId}:${own.pidNamespace}:${process.pid}:1`,
    ]) {
      const lock = holdFor(join(root, "f"), owner);
      const [, , deadOwner, start] = owner.split(":");
      writeFileSync(join(root, `.glovebox-tmp-${deadOwner}-${start}-0123456789abcdef`), "half");
      writeFileSync(join(root, `.glovebox-tmp-${deadOwner}-999-0123456789abcdef`), "another's");
      await environment.writeFile("f", bytes("new"));
      expect(existsLink(lock), owner).toBe(false);
      const names = (await environment.readdir(".")).map(({ name }) => name).sort();
      expect(names, owner).toEqual([`.glovebox-tmp-${deadOwner}-999-0123456789abcdef`, "f"]);
      unlinkSync(join(root, `.glovebox-tmp-${deadOwner}-999-0123456789abcdef`));
    }
  });

  it("J5 a breaker that died while breaking does not keep the lock for ever", async () => {
    const { root } = makeScene();
    const dead = `${own.bootId}:${own.pidNamespace}:${deadPid()}:77`;
    const lock = holdFor(join(root, "f"), dead);
    symlinkSync(dead, `${lock}.break`);
    (await lockFile(join(root, "f")))();
    expect([existsLink(lock), existsLink(`${lock}.break`)]).toEqual([false, false]);
  });

  it("a sweep breaks the locks of the dead and no others", async () => {
    const { root } = makeScene();
    const dead = holdFor(join(root, "dead"), `${own.bootId}:${own.pidNamespace}:${deadPid()}:77`);
    const elsewhere = holdFor(join(root, "elsewhere"), `${own.bootId}:1:${deadPid()}:77`);
    const release = await lockFile(join(root, "held"));
    await sweepLocks();
    expect([dead, elsewhere, join(openPrivateDirectory(), lockName(join(root, "held")))].map(existsLink)).toEqual([false, true, true]);
    release();
  });

  it("owners survive being written down; what is no owner is nobody", () => {
    expect(parseOwner(ownerText(own))).toEqual(own);
    expect(isProvablyDead(own)).toBe(false);
    for (const text of ["", "a:b:c:d", "a:1:2", "a:1:2:3:4", "/etc/passwd"]) expect(parseOwner(text), text).toBeUndefined();
  });

  it("is refused when the directory of locks is a symlink, open to others or somebody else's", () => {
    const { root } = makeScene();
    const directory = join(root, "locks");
    expect(openPrivateDirectory(directory)).toBe(directory);
    expect(lstatSync(directory).mode & 0o777).toBe(0o700);
    symlinkSync("locks", join(root, "link"));
    expect(() => openPrivateDirectory(join(root, "link"))).toThrow(/not a directory of this account's own/);
    chmodSync(directory, 0o750);
    expect(() => openPrivateDirectory(directory)).toThrow(/mode 0700/);
    chmodSync(directory, 0o700);
    if (process.getuid?.() !== 0) return;
    chownSync(directory, 12345, 0);
    expect(() => openPrivateDirectory(directory)).toThrow(/this account's own/);
  });
});

function parseOwnerOfInit(): string {
  const { stdout } = spawnSync("cat", ["/proc/1/stat"]);
  const stat = stdout.toString("latin1");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}
