import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeTarget } from "../../support/describe-target.js";
import { afterwards, bytes, codeOf, hasProgram, makeScene, nodeArguments, open, start } from "./scene.js";

const isRoot = process.getuid?.() === 0;

describeTarget("local", "writes of the local adapter", () => {
  it("L07 P11 keeps the mode, drops setuid and setgid, and gives a new file what umask says", async () => {
    const { root } = makeScene();
    const environment = await open(root);
    const file = join(root, "f");
    for (const [before, after] of [
      [0o640, 0o640],
      [0o755, 0o755],
      [0o4755, 0o755],
      [0o2750, 0o750],
      [0o600, 0o600],
    ] as const) {
      writeFileSync(file, "old");
      chmodSync(file, before);
      await environment.writeFile("f", bytes("new"));
      expect(statSync(file).mode & 0o7777, before.toString(8)).toBe(after);
    }
    const umask = process.umask();
    await environment.writeFile("fresh", bytes("x"));
    expect(statSync(join(root, "fresh")).mode & 0o777).toBe(0o666 & ~umask);
  });

  it.runIf(isRoot)("L07 keeps the owner", async () => {
    const { root } = makeScene();
    writeFileSync(join(root, "f"), "old");
    chmodSync(join(root, "f"), 0o640);
    chownSync(join(root, "f"), 12, 34);
    await (await open(root)).writeFile("f", bytes("new"));
    const { uid, gid, mode } = statSync(join(root, "f"));
    expect([uid, gid, mode & 0o777]).toEqual([12, 34, 0o640]);
  });

  it.runIf(hasProgram("setfattr") && hasProgram("setfacl"))("L07 keeps extended attributes and the ACL", async () => {
    const { root } = makeScene();
    const file = join(root, "f");
    writeFileSync(file, "old");
    execFileSync("setfattr", ["-n", "user.x", "-v", "one", file]);
    execFileSync("setfacl", ["-m", "u:1234:rw,g::---", file]);
    const environment = await open(root);
    await environment.writeFile("f", bytes("new"));
    await environment.writeFile("f", bytes("newer"));
    expect(execFileSync("getfattr", ["--absolute-names", "--only-values", "-n", "user.x", file]).toString()).toBe("one");
    expect(execFileSync("getfacl", ["-cpn", file]).toString()).toContain("user:1234:rw-\ngroup::---\nmask::rw-");
    await environment.writeFile("own", bytes("one"));
    await environment.writeFile("own", bytes("two"));
    execFileSync("setfattr", ["-n", "user.x", "-v", "later", join(root, "own")]);
    await environment.writeFile("own", bytes("three"));
    await environment.writeFile("own", bytes("four"));
    expect(execFileSync("getfattr", ["--absolute-names", "--only-values", "-n", "user.x", join(root, "own")]).toString()).toBe("later");
    expect((await environment.describe()).warnings.filter((warning) => warning.includes("attributes"))).toEqual([]);
  });

  it("L08 P29 refuses a file with other names and names the option; break and inplace do what they say", async () => {
    const { root } = makeScene();
    const [one, two] = [join(root, "one"), join(root, "two")];
    const reset = (): void => {
      execFileSync("rm", ["-f", one, two]);
      writeFileSync(one, "old and longer than the new one");
      linkSync(one, two);
    };
    reset();
    const error = await (await open(root)).writeFile("one", bytes("new")).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: "hard_link", details: { option: "hardLinks", links: 2 } });
    expect(String(error)).toContain('hardLinks: "break"');

    await (await open(root, { hardLinks: "break" })).writeFile("one", bytes("new"));
    expect([readFileSync(one, "utf8"), readFileSync(two, "utf8")]).toEqual(["new", "old and longer than the new one"]);

    reset();
    const written = await (await open(root, { hardLinks: "inplace" })).writeFile("one", bytes("new"));
    expect(written).toEqual({ canonicalPath: one, created: false });
    expect([readFileSync(one, "utf8"), readFileSync(two, "utf8"), statSync(one).nlink]).toEqual(["new", "new", 2]);
  });

  it("L09 writes through a symlink that stays one, and never through one that leads out", async () => {
    const { outside, root } = makeScene();
    writeFileSync(join(root, "real"), "old");
    writeFileSync(join(outside, "secret"), "secret");
    symlinkSync("real", join(root, "link"));
    symlinkSync("../secret", join(root, "out"));
    const environment = await open(root);
    await environment.writeFile("link", bytes("new"));
    expect([readlinkSync(join(root, "link")), readFileSync(join(root, "real"), "utf8")]).toEqual(["real", "new"]);
    expect(await codeOf(environment.writeFile("out", bytes("x")))).toBe("outside_root");
    expect([readlinkSync(join(root, "out")), readFileSync(join(outside, "secret"), "utf8")]).toEqual(["../secret", "secret"]);
  });

  it("L16 refuses what others run or obey unasked, by any name, unless allowProtected", async () => {
    const { root } = makeScene();
    for (const directory of [".git/hooks", "sub/.git", ".vscode"]) mkdirSync(join(root, directory), { recursive: true });
    symlinkSync(".git", join(root, "innocent"));
    symlinkSync("elsewhere", join(root, ".codex"));
    mkdirSync(join(root, "elsewhere"));
    const environment = await open(root);
    const paths = [
      ".git/hooks/pre-commit",
      ".git/config",
      "sub/.git/config",
      ".git/modules/m/hooks/post-checkout",
      ".GIT/hooks/x",
      ".bashrc",
      "home/.zshrc",
      ".vscode/tasks.json",
      ".mcp.json",
      ".claude/settings.json",
      ".codex/config.toml",
      "innocent/hooks/x",
      "sub/../.mcp.json",
    ];
    for (const path of paths) {
      const error = await environment.writeFile(path, bytes("x")).catch((caught: unknown) => caught);
      expect(error, path).toMatchObject({ code: "permission_denied", details: { option: "allowProtected" } });
    }
    expect(readdirSync(root).sort()).toEqual([".codex", ".git", ".vscode", "elsewhere", "innocent", "sub"]);
    for (const path of [".git/HEAD", "config", "hooks/x", "src/.bashrc.d/x"]) await environment.writeFile(path, bytes("x"));
    await (await open(root, { allowProtected: true })).writeFile(".git/hooks/pre-commit", bytes("x"));
    expect(statSync(join(root, ".git/hooks/pre-commit")).size).toBe(1);
  });

  it.runIf(hasProgram("strace"))("L06 temporary file, mode, fsync, rename, fsync of the directory, in this order", async () => {
    const { root } = makeScene();
    writeFileSync(join(root, "f"), "old");
    chmodSync(join(root, "f"), 0o640);
    const calls = "trace=openat,write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,fchmod";
    const program = await nodeArguments(new URL("./verb-program.ts", import.meta.url), root, "write", "f", "new content");
    const { stderr, exitCode } = await start("strace", ["-f", "-y", "-e", calls, process.execPath, ...program]).done;
    expect(exitCode).toBe(0);
    const at = (pattern: RegExp): number => stderr.split("\n").findIndex((line) => pattern.test(line));
    const order = [
      at(/openat\(.*\.glovebox-tmp-\d+-\d+-[0-9a-f]+", .*O_CREAT\|O_EXCL\|O_NOFOLLOW.*, 0600\)/),
      at(/write(64)?\(\d+<[^>]*\.glovebox-tmp-[^>]*>, "new content"/),
      at(/fchmod\(\d+<[^>]*\.glovebox-tmp-[^>]*>, 0640\)/),
      at(/fsync\(\d+<[^>]*\.glovebox-tmp-[^>]*>/),
      at(/rename[a-z0-9]*\(.*\.glovebox-tmp-.*\/f"/),
      at(new RegExp(`fsync\\(\\d+<${root}>`)),
    ];
    expect(order).not.toContain(-1);
    expect(order).toEqual([...order].sort((a, b) => a - b));
  });

  it.runIf(isRoot)("R19 P32 a full disk and a disk without inodes keep the old bytes and leave nothing", async () => {
    const { root } = makeScene();
    for (const options of ["size=1m", "size=1m,nr_inodes=4"]) {
      execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", root]);
      const unmount = (): unknown => execFileSync("umount", ["--lazy", root]);
      try {
        const environment = await open(root);
        await environment.writeFile("f", bytes("old"));
        writeFileSync(join(root, "g"), "fills an inode");
        const full = options.includes("inodes") ? "no/f" : "f";
        const error = await environment.writeFile(full, new Uint8Array(2 * 1024 * 1024)).catch((caught: unknown) => caught);
        expect(error, options).toMatchObject({ code: "no_space" });
        expect(String(error)).toContain(full);
        expect(readFileSync(join(root, "f"), "utf8")).toBe("old");
        expect(readdirSync(root).sort()).toEqual(["f", "g"]);
        execFileSync("rm", [join(root, "g")]);
        await environment.writeFile("f", bytes("small"));
        await environment.close();
      } finally {
        unmount();
      }
    }
  });

  it.runIf(isRoot && hasProgram("chattr"))("R21 P32 immutable and append-only files and read-only mounts stay as they are", async () => {
    const { root } = makeScene();
    for (const [name, attribute] of [
      ["immutable", "i"],
      ["appended", "a"],
    ] as const) {
      const file = join(root, name);
      writeFileSync(file, "old");
      try {
        execFileSync("chattr", [`+${attribute}`, file], { stdio: "ignore" });
      } catch {
        continue; // Not every filesystem has them.
      }
      afterwards(() => execFileSync("chattr", [`-${attribute}`, file]));
      expect(await codeOf((await open(root)).writeFile(name, bytes("new"))), name).toBe("permission_denied");
      expect(readFileSync(file, "utf8")).toBe("old");
    }
    mkdirSync(join(root, "ro"));
    execFileSync("mount", ["-t", "tmpfs", "-o", "ro", "tmpfs", join(root, "ro")]);
    afterwards(() => execFileSync("umount", [join(root, "ro")]));
    expect(await codeOf((await open(root)).writeFile("ro/f", bytes("new")))).toBe("permission_denied");
    expect(readdirSync(root).filter((name) => name.startsWith(".glovebox"))).toEqual([]);
  });

  it("C21 parents that were made for a write that then fails are taken back", async () => {
    const { root } = makeScene();
    const environment = await open(root);
    const controller = new AbortController();
    const writing = environment.writeFile("a/b/c", new Uint8Array(8 * 1024 * 1024), { signal: controller.signal });
    setImmediate(() => controller.abort());
    expect(await codeOf(writing)).toBe("aborted");
    expect(readdirSync(root)).toEqual([]);
  });

  it("a file that a stranger makes while a new one is being written is a conflict, not lost", async () => {
    const { root } = makeScene();
    const environment = await open(root);
    const file = join(root, "f");
    const writing = environment.writeFile("f", new Uint8Array(32 * 1024 * 1024), { ifMatch: null });
    await new Promise((resolve) => setImmediate(resolve));
    while (!readdirSync(root).some((name) => name.startsWith(".glovebox-tmp-"))) await new Promise((resolve) => setImmediate(resolve));
    writeFileSync(file, "stranger");
    expect(await codeOf(writing)).toBe("conflict");
    expect([readFileSync(file, "utf8"), readdirSync(root)]).toEqual(["stranger", ["f"]]);
  });

  it("a stranger who changes the file while its successor is being written is caught before the rename", async () => {
    const { root } = makeScene();
    const environment = await open(root);
    const file = join(root, "f");
    writeFileSync(file, "old");
    const ifMatch = "0".repeat(64);
    const { createHash } = await import("node:crypto");
    const sha256 = createHash("sha256").update("old").digest("hex");
    expect(await codeOf(environment.writeFile("f", bytes("x"), { ifMatch }))).toBe("conflict");
    const writing = environment.writeFile("f", new Uint8Array(32 * 1024 * 1024), { ifMatch: sha256 }).catch((error: unknown) => error);
    await new Promise((resolve) => setImmediate(resolve));
    while (!readdirSync(root).some((name) => name.startsWith(".glovebox-tmp-"))) await new Promise((resolve) => setImmediate(resolve));
    writeFileSync(file, "stranger");
    const actualSha256 = createHash("sha256").update("stranger").digest("hex");
    expect(await writing).toMatchObject({ code: "conflict", details: { expectedSha256: sha256, actualSha256 } });
    expect(readFileSync(file, "utf8")).toBe("stranger");
  });

  it("the spool is written outside the root, is private, and is gone after close", async () => {
    const { root } = makeScene();
    const environment = await open(root);
    const path = `${environment.spoolDirectory}/long/output.txt`;
    expect(await codeOf(environment.readFile(path))).toBe("not_found");
    expect((await environment.writeFile(path, bytes("kept"))).canonicalPath).toBe(path);
    expect(lstatSync(environment.spoolDirectory).mode & 0o777).toBe(0o700);
    expect((await environment.readFile(path)).size).toBe(4);
    expect(await codeOf(environment.readFile(`${environment.spoolDirectory}/../lock`))).toBe("outside_root");
    expect(await codeOf(environment.writeFile(`${environment.spoolDirectory}-other/f`, bytes("x")))).toBe("outside_root");
    await environment.close();
    expect(lstatSync(environment.spoolDirectory, { throwIfNoEntry: false })).toBeUndefined();
  });
});
