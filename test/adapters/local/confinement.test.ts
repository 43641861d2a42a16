import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, it } from "vitest";
import { describeTarget } from "../../support/describe-target.js";
import { bytes, codeOf, hasProgram, makeScene, nodeArguments, open, openDescriptors, start, text } from "./scene.js";

describeTarget("local", "confinement of the local adapter", () => {
  it("L03 compares the root by components", async () => {
    const { outside, root } = makeScene();
    mkdirSync(`${root}-evil`);
    writeFileSync(`${root}-evil/f`, "secret");
    const environment = await open(root);
    for (const path of [`../${basename(root)}-evil/f`, `${root}-evil/f`, `${outside}/root-evil/f`]) {
      expect(await codeOf(environment.readFile(path)), path).toBe("outside_root");
      expect(await codeOf(environment.writeFile(path, bytes("x"))), path).toBe("outside_root");
      expect(await codeOf(environment.readdir(`${root}-evil`)), path).toBe("outside_root");
    }
    expect(readFileSync(`${root}-evil/f`, "utf8")).toBe("secret");
  });

  it("P03 P28 refuses every way out, and what leads back in is in", async () => {
    const { outside, root } = makeScene();
    writeFileSync(join(outside, "secret"), "s");
    mkdirSync(join(root, "a/b"), { recursive: true });
    writeFileSync(join(root, "f"), "inside");
    symlinkSync("../secret", join(root, "relative"));
    symlinkSync(join(outside, "secret"), join(root, "absolute"));
    symlinkSync("..", join(root, "up"));
    symlinkSync("/etc", join(root, "a/etc"));
    symlinkSync("../../f", join(root, "a/b/back"));
    symlinkSync(`${root}/f`, join(root, "absolute-inside"));
    symlinkSync(`../../${basename(root)}/f`, join(root, "a/out-and-in"));
    const environment = await open(root);
    const out = [
      "../secret",
      "a/../../secret",
      "/etc/passwd",
      "//etc//passwd",
      "relative",
      "absolute",
      "up/secret",
      "a/etc/passwd",
      "a/etc/../secret",
      "..",
      "up",
      "/",
    ];
    for (const path of out) {
      expect(await codeOf(environment.readFile(path)), path).toBe("outside_root");
      expect(await codeOf(environment.stat(path)), path).toBe("outside_root");
      expect(await codeOf(environment.writeFile(path, bytes("x"))), path).toBe("outside_root");
      expect(await codeOf(environment.realpath(path)), path).toBe("outside_root");
    }
    for (const path of [
      "a/b/back",
      "absolute-inside",
      "a/out-and-in",
      "a/../f",
      `../${basename(root)}/f`,
      `${root}/f`,
      "up/root/./f",
      `/..//${root}/f`,
    ]) {
      const { data, canonicalPath } = await environment.readFile(path);
      expect([text(data), canonicalPath], path).toEqual(["inside", `${root}/f`]);
    }
  });

  it("says nothing about what is outside: what exists there and what does not are refused alike", async () => {
    const { root } = makeScene();
    const environment = await open(root);
    const messageOf = async (path: string) =>
      String(await environment.stat(path).catch((error: Error) => error.message.replace(path, "PATH")));
    expect(await messageOf("/etc/passwd")).toBe(await messageOf("/no/such"));
    expect(await messageOf("../../etc")).toBe(await messageOf("../../xyz"));
  });

  it("a root that was named through a symlink may be named so in paths too", async () => {
    const { outside, root } = makeScene();
    writeFileSync(join(root, "f"), "x");
    symlinkSync(root, join(outside, "alias"));
    symlinkSync(join(outside, "alias", "f"), join(root, "link"));
    const environment = await open(join(outside, "alias"));
    expect([environment.root, environment.cwd]).toEqual([root, root]);
    expect((await environment.stat(join(outside, "alias", "f"))).canonicalPath).toBe(join(root, "f"));
    expect((await environment.stat("link")).canonicalPath).toBe(join(root, "f"));
    expect(await codeOf(environment.stat(`${join(outside, "alias")}-not/f`))).toBe("outside_root");
  });

  it("L04 P22 refuses the kernel's own filesystems though / is the root", async () => {
    const environment = await open("/");
    const self = `/proc/${process.pid}`;
    for (const path of [
      "/proc/self/environ",
      "/proc/self/root/etc/passwd",
      "/dev/fd/0",
      "/dev/stdin",
      `${self}/environ`,
      `${self}/cwd/package.json`,
      "/sys/kernel/mm",
      "/proc",
    ]) {
      expect(await codeOf(environment.readFile(path)), path).toBe("not_regular");
    }
    expect(await codeOf(environment.readdir("/proc/self/fd"))).toBe("not_regular");
    expect(await codeOf(environment.writeFile(`${self}/comm`, bytes("x")))).toBe("not_regular");
    expect((await environment.readdir("/")).some(({ name }) => name === "proc")).toBe(true);
  });

  it("a root in /proc is refused", async () => {
    expect(await codeOf(open("/proc/self"))).toBe("not_regular");
  });

  it("follows the root when a fresh checkout takes its place, and says so when nothing does", async () => {
    const { outside, root } = makeScene();
    writeFileSync(join(root, "f"), "old");
    const environment = await open(root);
    expect(text((await environment.readFile("f")).data)).toBe("old");
    renameSync(root, join(outside, "moved"));
    expect(await codeOf(environment.readFile("f"))).toBe("gone");
    mkdirSync(root);
    writeFileSync(join(root, "f"), "new");
    expect(text((await environment.readFile("f")).data)).toBe("new");
    renameSync(root, join(outside, "moved again"));
    symlinkSync(join(outside, "moved"), root);
    expect(await codeOf(environment.readFile("f"))).toBe("gone");
  });

  it("P14 needs no descriptor for each level, and leaves none open", async () => {
    const { root } = makeScene();
    const environment = await open(root);
    const deep = "d/".repeat(300);
    const before = openDescriptors();
    await environment.writeFile(`${deep}f`, bytes("deep"));
    expect(text((await environment.readFile(`${deep}../${"d/"}f`)).data)).toBe("deep");
    symlinkSync("f", `${root}/link`);
    for (let round = 0; round < 50; round += 1) {
      await codeOf(environment.readFile("link"));
      await codeOf(environment.readFile("../x"));
      await codeOf(environment.readFile("d/f/x"));
      await codeOf(environment.readdir("d"));
      await codeOf(environment.writeFile("d", bytes("x")));
      await codeOf(environment.writeFile("n/a/f", bytes("x"), { ifMatch: "0".repeat(64) }));
    }
    expect(openDescriptors()).toBeLessThanOrEqual(before + 3);
  });

  it.runIf(hasProgram("strace"))("L02 opens every component without following links", async () => {
    const { root } = makeScene();
    mkdirSync(join(root, "one/two"), { recursive: true });
    writeFileSync(join(root, "one/two/three"), "x");
    const program = await nodeArguments(new URL("./verb-program.ts", import.meta.url), root, "read", "one/two/three");
    const { stderr, exitCode } = await start("strace", ["-f", "-e", "trace=openat", process.execPath, ...program]).done;
    expect(exitCode).toBe(0);
    for (const name of ["one", "two", "three"]) {
      const opens = stderr.split("\n").filter((line) => line.includes(`/${name}"`) && line.includes("/proc/self/fd/"));
      expect(opens.length, name).toBeGreaterThan(0);
      for (const line of opens) expect(line).toContain("O_NOFOLLOW");
    }
  });
});
