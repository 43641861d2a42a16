import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { bubblewrap } from "../../../adapters/local/bubblewrap.js";
import { createRunRecord } from "../../../adapters/local/run-record.js";
import { runCommand } from "../../../src/testing/run-command.js";
import { describeTarget } from "../../support/describe-target.js";
import { afterwards, bytes, codeOf, hasProgram, makeScene, open } from "./scene.js";

/** Installed, and allowed to make namespaces here. */
function canIsolate(): boolean {
  try {
    execFileSync("bwrap", ["--ro-bind", "/", "/", "--unshare-net", "--unshare-pid", "--", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const isolates = hasProgram("bwrap") && canIsolate();

describeTarget("local", 'isolation: "bwrap"', () => {
  it("is refused where bubblewrap is missing or the root is the whole machine, and says so", async () => {
    expect(await codeOf(open("/", { isolation: "bwrap" }))).toBe(hasProgram("bwrap") ? "invalid_argument" : "unsupported");
    // In a workspace at /usr no program is to be trusted, bwrap among them.
    expect(() => bubblewrap("/usr", createRunRecord(), false)).toThrow(/needs bubblewrap/);
  });

  it.runIf(isolates)("L14 the machine is read-only but for the workspace, there is no network, and nothing of /tmp and /run", async () => {
    const { outside, root } = makeScene();
    writeFileSync(join(outside, "secret"), "s");
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    afterwards(() => server.close());
    const { port } = server.address() as { port: number };
    const environment = await open(root, { isolation: "bwrap" });
    expect((await environment.describe()).isolation).toContain("bubblewrap");
    const { stdout, exitCode } = await runCommand(
      environment,
      `echo in > made; cat made; touch /etc/x 2>&1 | grep -o 'Read-only file system'; touch /usr/x 2>/dev/null || echo no;
       ls /tmp /run | grep -v glovebox; cat ${outside}/secret 2>/dev/null || echo hidden;
       (exec 9<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null && echo connected || echo alone; ulimit -c; pwd`,
      { cwd: root },
    );
    expect(stdout).toBe(`in\nRead-only file system\nno\n/run:\n\n/tmp:\nhidden\nalone\n0\n${root}\n`);
    expect(exitCode).toBe(0);
    expect((await environment.stat("made")).size).toBe(3);
  });

  it.runIf(isolates)("L14 what others run or obey unasked is read-only where it is there", async () => {
    const { root } = makeScene();
    for (const directory of [".git/hooks", ".vscode", ".claude"]) mkdirSync(join(root, directory), { recursive: true });
    for (const file of [".git/config", ".mcp.json", ".bashrc"]) writeFileSync(join(root, file), "old");
    const paths = [".git/hooks/pre-commit", ".git/config", ".vscode/tasks.json", ".claude/settings.json", ".mcp.json", ".bashrc"];
    const environment = await open(root, { isolation: "bwrap" });
    for (const path of paths) expect((await environment.exec(`echo x > ${path}`)).exitCode, path).toBe(1);
    expect(existsSync(join(root, ".git/hooks/pre-commit"))).toBe(false);
    const allowed = await open(root, { isolation: "bwrap", allowProtected: true });
    for (const path of paths) expect((await allowed.exec(`echo x > ${path}`)).exitCode, path).toBe(0);
  });

  it.runIf(isolates)("L13 nothing outlives the command, and an abort leaves nothing", async () => {
    const { root } = makeScene();
    const environment = await open(root, { isolation: "bwrap" });
    const marker = `90${process.pid}`;
    const ended = await environment.exec(`setsid sleep ${marker} & env -i setsid sleep ${marker} & sleep 0.1; echo`);
    expect(ended).toEqual({ exitCode: 0 });
    const aborted = environment.exec(`env -i setsid sleep ${marker} & trap '' TERM; sleep ${marker}; sleep ${marker}`, {
      signal: AbortSignal.timeout(300),
    });
    expect(await codeOf(aborted)).toBe("timeout");
    expect(
      execFileSync("sh", ["-c", `ps ax -o args | grep "[s]leep ${marker}" | wc -l`])
        .toString()
        .trim(),
    ).toBe("0");
  });

  it.runIf(isolates)("stdin, long commands and kept output work inside", async () => {
    const { root } = makeScene();
    const environment = await open(root, { isolation: "bwrap" });
    const kept = `${environment.spoolDirectory}/kept`;
    await environment.writeFile(kept, bytes("kept\n"));
    const long = `cat - ${kept}\n: '${"x".repeat(200_000)}'`;
    expect((await runCommand(environment, long, { stdin: bytes("in\n") })).stdout).toBe("in\nkept\n");
  });
});
