import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import type { Environment } from "../../../src/contract/target.js";
import { type CommandOutput, runCommand } from "../../../src/testing/run-command.js";
import { describeTarget } from "../../support/describe-target.js";
import { afterwards, bytes, codeOf, eventually, lives, makeScene, nodeArguments, open, openDescriptors, start } from "./scene.js";

async function run(environment: Environment, command: string, options: Parameters<typeof runCommand>[2] = {}): Promise<CommandOutput> {
  return await runCommand(environment, command, options);
}

describeTarget("local", "commands of the local adapter", () => {
  it("L10 sees allow-listed variables, what was passed, and nothing of ours", async () => {
    const { root } = makeScene();
    process.env.SECRET_CANARY = "canary";
    process.env.LC_TEST = "allowed";
    process.env.RIPGREP_CONFIG_PATH = "/nowhere";
    afterwards(() => {
      for (const name of ["SECRET_CANARY", "LC_TEST", "RIPGREP_CONFIG_PATH"]) delete process.env[name];
    });
    const environment = await open(root, { env: { FROM_OPTIONS: "1", BOTH: "options" } });
    const { stdout } = await run(environment, "env -0", { env: { FROM_CALL: "two words", BOTH: "call", GLOVEBOX_RUN: "forged" } });
    const seen = Object.fromEntries(
      stdout
        .split("\0")
        .filter(Boolean)
        .map((each) => [each.slice(0, each.indexOf("=")), each.slice(each.indexOf("=") + 1)]),
    );
    expect(seen).toMatchObject({
      FROM_OPTIONS: "1",
      FROM_CALL: "two words",
      BOTH: "call",
      LC_TEST: "allowed",
      PATH: process.env.PATH,
      PWD: root,
    });
    expect(seen.GLOVEBOX_RUN).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/);
    const allowed =
      /^(PATH|HOME|LANG|LC_.*|TERM|TZ|TMPDIR|USER|LOGNAME|SHELL|GLOVEBOX_RUN|FROM_OPTIONS|FROM_CALL|BOTH|PWD|SHLVL|OLDPWD|_)$/;
    expect(Object.keys(seen).filter((name) => !allowed.test(name))).toEqual([]);
  });

  it("L11 runs in a session of its own with nothing but stdin, stdout and stderr open, though we were started with more", async () => {
    const { root } = makeScene();
    const program = await nodeArguments(
      new URL("./command-program.ts", import.meta.url),
      root,
      'ls /proc/$$/fd; readlink /proc/$$/fd/0; [ "$(ps -o sid= -p $$)" -eq $$ ] && echo own session; tty',
    );
    const quoted = [process.execPath, ...program].map((each) => `'${each.replaceAll("'", "'\\''")}'`).join(" ");
    const { stdout } = await start("bash", ["-c", `exec 7</etc/passwd 251</etc/group; ${quoted}`]).done;
    expect(stdout).toBe("0\n1\n2\n/dev/null\nown session\nnot a tty\n");
  });

  it("B07 L15 has an empty stdin or all of the given one, and limits", async () => {
    const { root } = makeScene();
    const environment = await open(root, { maxFileBytes: 1024 * 1024, maxOpenFiles: 99 });
    expect((await run(environment, "cat; ulimit -c; ulimit -n")).stdout).toBe("0\n99\n");
    const stdin = new Uint8Array(3_000_000).fill(65);
    expect((await run(environment, "wc -c; cat", { stdin })).stdout.trim()).toBe("3000000");
    expect((await run(environment, "head -c 3 >/dev/null; true", { stdin })).exitCode).toBe(0);
    const large = await run(environment, "trap '' XFSZ; dd if=/dev/zero of=large bs=1M count=3 2>&1");
    expect(large.exitCode).not.toBe(0);
    expect((await environment.stat("large")).size).toBe(1024 * 1024);
    expect((await run(environment, "exec dd if=/dev/zero of=large bs=1M count=3")).signal).toBe("SIGXFSZ");
  });

  it("stdout and stderr are pipes that can be opened again by name", async () => {
    const { root } = makeScene();
    const environment = await open(root);
    const { stdout, stderr, exitCode } = await run(
      environment,
      "echo one >/dev/stdout; echo two >/dev/stderr; echo three | tee /dev/stderr; echo four >/dev/fd/2",
    );
    expect([stdout, stderr, exitCode]).toEqual(["one\nthree\n", "two\nthree\nfour\n", 0]);
  });

  it("reads no start-up file, with stdin or without", async () => {
    const { root } = makeScene();
    writeFileSync(join(root, ".bashrc"), "echo rc file");
    writeFileSync(join(root, ".profile"), "echo profile");
    const environment = await open(root, { env: { HOME: root, ENV: `${root}/.profile` } });
    expect((await run(environment, "echo ok")).stdout).toBe("ok\n");
    expect((await run(environment, "cat", { stdin: bytes("in\n") })).stdout).toBe("in\n");
    expect((await run(environment, "echo $BASH_ENV; declare -F; echo $0 $#")).stdout).toBe("\nbash 0\n");
  });

  it("B17 an exit is an exit, whatever its number; a death has the name of its signal", async () => {
    const { root } = makeScene();
    const environment = await open(root);
    for (const exitCode of [0, 1, 127, 128, 137, 143, 255]) expect(await environment.exec(`exit ${exitCode}`)).toEqual({ exitCode });
    for (const signal of ["SIGKILL", "SIGTERM", "SIGSEGV", "SIGPIPE", "SIGINT"])
      expect(await environment.exec(`kill -${signal.slice(3)} $$; sleep 5`)).toEqual({ signal });
    expect((await run(environment, "no-such-command")).stderr).toBe("bash: line 1: no-such-command: command not found\n");
  });

  it("a command longer than an argument may be runs all the same", async () => {
    const { root } = makeScene();
    const environment = await open(root);
    const word = "x".repeat(300_000);
    const { stdout, exitCode } = await run(environment, `cat <<'END' | wc -c\n${word}\nEND\ncat; exit 3`);
    expect([stdout.trim(), exitCode]).toEqual(["300001", 3]);
    expect(await environment.exec("true", { env: { LARGE: word } }).catch((error: unknown) => error)).toMatchObject({
      code: "not_started",
      retrySafe: true,
    });
    expect(await environment.exec("true", { cwd: "missing" }).catch((error: unknown) => error)).toMatchObject({ code: "not_started" });
  });

  it("L12 B08 R27 a background process does not hold the call, lives on, is named, and can still write", async () => {
    const { root } = makeScene();
    const environment = await open(root);
    for (const how of [
      "sleep 60 &",
      "setsid sleep 60 &",
      "nohup sleep 60 >/dev/null 2>&1 &",
      "(setsid sleep 60 &)",
      "(while sleep 0.02; do echo noise; done) &",
    ]) {
      const started = performance.now();
      const { stdout, exitCode, background } = await run(environment, `${how}\necho hi`);
      expect(performance.now() - started, how).toBeLessThan(10_000);
      expect(stdout.startsWith("hi\n") || stdout.includes("noise"), how).toBe(true);
      expect(exitCode, how).toBe(0);
      expect(background?.length, how).toBeGreaterThan(0);
      // The loop's own sleeps come and go.
      expect(how.includes("noise") ? background?.some(lives) : background?.every(lives), how).toBe(true);
      if (how.includes("noise")) {
        await new Promise((resolve) => setTimeout(resolve, 300));
        expect(background?.some(lives), "what it writes is taken, so that it does not die of a closed pipe").toBe(true);
      }
    }
  });

  it("output of a helper that outlives the shell for a moment is not lost", async () => {
    const { root } = makeScene();
    const environment = await open(root);
    for (let round = 0; round < 5; round += 1) {
      expect((await run(environment, "exec > >(sleep 0.03; cat); echo through")).stdout).toBe("through\n");
    }
  });

  it("closing kills what still runs, in the foreground and behind, and removes all traces", async () => {
    const { root } = makeScene();
    const environment = await open(root);
    const { background = [] } = await run(environment, "setsid sleep 61 & nohup sleep 62 >/dev/null 2>&1 & echo");
    const running = environment.exec("sleep 63").catch((error: unknown) => error);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await environment.close();
    expect(await running).toMatchObject({ code: "gone" });
    expect(background.filter(lives)).toEqual([]);
    const prefix = environment.spoolDirectory.slice(environment.spoolDirectory.lastIndexOf("spool-") + 6);
    expect(readdirSync(dirname(environment.spoolDirectory)).filter((name) => name.includes(prefix))).toEqual([]);
    expect(await environment.exec("true").catch((error: unknown) => error)).toMatchObject({ code: "gone" });
  });

  it("a close at the very beginning of a command does not wait for its end", async () => {
    const { root } = makeScene();
    for (const delayMs of [0, 1, 3, 10]) {
      const environment = await open(root);
      const running = codeOf(environment.exec("sleep 600"));
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      await environment.close();
      expect(await running).toBe("gone");
    }
  });

  it("onOutput that throws kills the command and rejects with what it threw", async () => {
    const { root } = makeScene();
    const environment = await open(root);
    const thrown = new Error("the caller's own");
    for (const onOutput of [
      () => {
        throw thrown;
      },
      () => Promise.reject(thrown),
    ]) {
      const error = await environment.exec("echo $$ > pid; yes", { onOutput }).catch((caught: unknown) => caught);
      expect(error).toMatchObject({ code: "unexpected", cause: thrown });
      const pid = Number(Buffer.from((await environment.readFile("pid")).data).toString());
      expect(lives(pid)).toBe(false);
    }
  });

  it("goes on when somebody cleans up /tmp", async () => {
    const { root } = makeScene();
    const environment = await open(root);
    await environment.exec("true");
    const base = dirname(environment.spoolDirectory);
    const own = readdirSync(base).filter((name) => name.startsWith("run-") && name.includes(`:${process.pid}:`));
    for (const name of own) rmSync(join(base, name), { recursive: true });
    expect((await run(environment, "echo ok; ulimit -c")).stdout).toBe("ok\n0\n");
    await environment.writeFile("f", bytes("x"));
  });

  it("many commands at once each have their own output, and none is left over", async () => {
    const { root } = makeScene();
    const environment = await open(root);
    const outputs = await Promise.all(Array.from({ length: 24 }, (_, index) => run(environment, `echo ${index}; echo e${index} >&2`)));
    expect(outputs.map(({ stdout, stderr }) => `${stdout}${stderr}`)).toEqual(
      Array.from({ length: 24 }, (_, index) => `${index}\ne${index}\n`),
    );
    const descriptors = openDescriptors();
    await Promise.all(Array.from({ length: 24 }, () => environment.exec("true")));
    await eventually("every descriptor is closed again", () => openDescriptors() <= descriptors);
  });
});
