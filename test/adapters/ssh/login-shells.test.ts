import { randomUUID } from "node:crypto";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import type { Environment } from "../../../src/index.js";
import { describeTarget } from "../../support/describe-target.js";
import { findProgram } from "../../support/packages.js";
import { runCommand } from "../../support/run-command.js";
import { type SshdOptions, type SshServer, startSshd } from "../../support/sshd.js";
import { newTag, open, run, targetFor, text } from "./scene.js";

const isRoot = process.getuid?.() === 0;
const SHELLS = ["dash", "fish", "tcsh", "csh", "zsh", "mksh"].flatMap((name) => {
  const path = findProgram(name);
  return path === undefined ? [] : [{ name, path }];
});
const ODD = `it's "odd" $HOME \\n !! é\r\nname`;

/** What any account with a shell can do, whatever that shell is. */
async function expectAllOfIt(environment: Environment): Promise<void> {
  const name = `${ODD} ${randomUUID()}`;
  const { created } = await environment.writeFile(name, Buffer.from(`${ODD}\n`));
  expect(created).toBe(true);
  expect(text((await environment.readFile(name)).data)).toBe(`${ODD}\n`);
  expect((await environment.readdir(".")).map((entry) => entry.name)).toContain(name);
  expect(await run(environment, `printf '%s' "$WORD"; exit 3`, { WORD: ODD })).toMatchObject({ output: ODD, exitCode: 3 });
}

/** What is left without one. */
async function expectFilesAlone(environment: Environment): Promise<void> {
  expect(environment.capabilities).toMatchObject({ exec: false, processes: false });
  await environment.writeFile("a/b.txt", Buffer.from("kept\n"));
  expect(text((await environment.readFile("a/b.txt")).data)).toBe("kept\n");
  expect((await environment.grep(".", { pattern: "kept", limit: 5 })).matches).toBe(1);
  await expect(environment.exec("true")).rejects.toMatchObject({ code: "unsupported" });
  expect((await environment.describe()).warnings.join("\n")).toContain("No commands: no POSIX shell answers there");
}

describeTarget("ssh", "accounts as they are", () => {
  for (const shell of SHELLS) {
    it.skipIf(!isRoot)(`login shell ${shell.name}`, async () => {
      await using server = await startSshd({ shell });
      const environment = await open(targetFor(server));
      await expectAllOfIt(environment);
      const { env, survivors } = newTag();
      const abort = new AbortController();
      const command = environment.exec("setsid sleep 300 & echo; sleep 300", { env, signal: abort.signal, onOutput: () => abort.abort() });
      await expect(command).rejects.toMatchObject({ code: "aborted" });
      expect(await survivors()).toEqual([]);
    });
  }

  it.skipIf(!isRoot)("an account whose shell is nologin, or restricted, is left with files", async () => {
    const shells = ["/usr/sbin/nologin", "/bin/rbash"].map((path) => ({ name: path.split("/").at(-1) ?? "", path }));
    for (const shell of shells) {
      await using server = await startSshd({ shell });
      await expectFilesAlone(await open(targetFor(server)));
    }
  });

  it("a forced command that is SFTP leaves files, any other one nothing, and says what it said", async () => {
    await using sftp = await startSshd({ config: ["ForceCommand internal-sftp"] });
    await expectFilesAlone(await open(targetFor(sftp)));
    await using other = await startSshd({ config: ["ForceCommand echo only deliveries here >&2; exit 9"] });
    await expect(targetFor(other).connect({})).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringMatching(/neither a POSIX shell nor SFTP.*exit code 9.*only deliveries here/s),
    });
  });

  it("SFTP is not even asked for where a shell answers", async () => {
    await using server = await startSshd();
    await expectAllOfIt(await open(targetFor(server)));
    expect(await server.readLog()).not.toContain("subsystem");
  });

  it("a directory that is not there is said at once", async () => {
    await using server = await startSshd();
    const connect = (cwd: string) => targetFor(server, server, { cwd }).connect({});
    await expect(connect(`${server.workspace}/missing`)).rejects.toMatchObject({ code: "not_found" });
    await expect(connect("/etc/passwd")).rejects.toMatchObject({ code: "not_directory" });
    await using sftp = await startSshd({ config: ["ForceCommand internal-sftp"] });
    await expect(targetFor(sftp, sftp, { cwd: "/missing" }).connect({})).rejects.toMatchObject({ code: "not_found" });
    await expect(targetFor(sftp, sftp, { cwd: "/etc/passwd" }).connect({})).rejects.toMatchObject({ code: "not_directory" });
  });
});

describeTarget("ssh", "what a login shell does before it does anything", () => {
  const options: SshdOptions = { shell: { name: "rc", path: "/bin/bash" } };
  let server: SshServer | undefined;
  beforeAll(async () => {
    if (isRoot) server = await startSshd(options);
  });
  afterAll(async () => {
    await server?.stop();
  });

  /** A login of its own in one whose start-up file this is: bash reads it for commands over ssh, too. */
  async function withStartup(script: string, at = server): Promise<Environment> {
    if (at === undefined) throw new Error("there is no server");
    const file = join(at.account.home, ".bashrc");
    onTestFinished(() => rm(file, { force: true }));
    await writeFile(file, `${script}\n`);
    return await open(targetFor(at));
  }

  it.skipIf(!isRoot)("a greeting on both streams, binary and long, is not taken for an answer", async () => {
    const environment = await withStartup(
      "head -c 200000 /dev/urandom; echo; echo 'Welcome!'; head -c 3000 /dev/urandom >&2; printf 'no line feed'",
    );
    await expectAllOfIt(environment);
  });

  it.skipIf(!isRoot)("one that is slow, or changes directory, traps signals and options, is waited for", async () => {
    const environment = await withStartup(
      "sleep 3; cd /; umask 077; trap 'echo caught' INT TERM; set -o noclobber; alias exit=false; export CDPATH=/ LC_ALL=C.UTF-8",
    );
    await expectAllOfIt(environment);
  });

  it.skipIf(!isRoot)("one that becomes tmux, fails, or eats what is meant for us is no shell: files are left", async () => {
    const scripts = [
      findProgram("tmux") === undefined ? "echo 'open terminal failed: not a terminal' >&2; exit 1" : "exec tmux",
      "echo 'out of order' >&2; exit 5",
      "read -r answer",
    ];
    for (const script of scripts) await expectFilesAlone(await withStartup(script));
  });

  it.skipIf(!isRoot)("one that never ends, or answers everything, does not hang us", { timeout: 120_000 }, async () => {
    await using other = await startSshd({ shell: { name: "rc2", path: "/bin/bash" } });
    await Promise.all([withStartup("cat >/dev/null").then(expectFilesAlone), withStartup("exec cat", other).then(expectFilesAlone)]);
  });
});

describeTarget("ssh", "a host with nothing but busybox, and no /proc", () => {
  let directory = "";
  beforeAll(async () => {
    if (!isRoot || findProgram("busybox") === undefined) return;
    // sshd lets nobody into a root below a directory that others may write.
    directory = await mkdtemp("/run/glovebox-test-");
    const root = join(directory, "root");
    for (const each of ["bin", "dev", "etc", "tmp", "work"]) await mkdir(join(root, each), { recursive: true });
    await cp(findProgram("busybox") ?? "", join(root, "bin/busybox"));
    const { stdout } = await runCommand("busybox", ["--list"]);
    for (const applet of stdout.trim().split("\n")) if (applet !== "busybox") await symlink("busybox", join(root, "bin", applet));
    await runCommand("mknod", ["-m", "666", join(root, "dev/null"), "c", "1", "3"]);
    await runCommand("chmod", ["1777", join(root, "tmp"), join(root, "work")]);
    await runCommand("chmod", ["755", directory, root]);
  });
  afterAll(async () => {
    if (directory !== "") await rm(directory, { recursive: true, force: true });
  });

  it.skipIf(!isRoot || findProgram("busybox") === undefined)("is a target like another", async () => {
    await using server = await startSshd({ shell: { name: "sh", path: "/bin/sh" }, config: [`ChrootDirectory ${directory}/root`] });
    const environment = await open(targetFor(server, server, { cwd: "/work" }));
    await expectAllOfIt(environment);
    const { facts, warnings } = await environment.describe();
    expect(facts).toMatchObject({ shell: "sh" });
    expect(warnings.join("\n")).toContain("There is no /proc");
    expect(warnings.join("\n")).toContain("cannot be watched from within");
    const { env, survivors } = newTag();
    const abort = new AbortController();
    const command = environment.exec("sleep 300 & echo; sleep 300", { env, signal: abort.signal, onOutput: () => abort.abort() });
    await expect(command).rejects.toMatchObject({ code: "aborted" });
    expect(await survivors()).toEqual([]);
  });
});
