import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ssh } from "../../../adapters/ssh/index.js";
import { codeOf, newTag, open, optionsFor, run, targetFor } from "../../adapters/ssh/scene.js";
import { startSshContainer } from "../../support/containers.js";
import { describeTarget } from "../../support/describe-target.js";
import { runCommand } from "../../support/run-command.js";
import { makeScratch, removeScratch } from "../../support/scratch.js";
import { type SshServer, startSshd } from "../../support/sshd.js";
import { flood } from "../flood.js";

const GIB = 2 ** 30;

describeTarget("ssh", "R25 P15 floods", () => {
  let server: SshServer;
  beforeAll(async () => {
    server = await startSshd();
  });
  afterAll(async () => {
    await server?.stop();
  });

  const floodIt = (command: string, reader: "quick" | "slow" | "unread") => flood({ sshOptions: optionsFor(server) }, command, reader);

  it("1 GiB on both streams arrives to the byte, in memory for a few chunks", { timeout: 300_000 }, async () => {
    const command = "head -c 768M /dev/zero & head -c 256M /dev/zero >&2; wait";
    expect(await floodIt(command, "quick")).toEqual({ exitCode: 0, stdout: 0.75 * GIB, stderr: 0.25 * GIB });
  });

  it("a reader that lags holds the command back; nobody who reads costs nothing", { timeout: 300_000 }, async () => {
    const [slow, unread, lines] = await Promise.all([
      floodIt("head -c 96M /dev/zero; head -c 16M /dev/zero >&2", "slow"),
      floodIt("head -c 256M /dev/zero", "unread"),
      floodIt("yes '' | head -n 10000000", "quick"),
    ]);
    expect(slow).toEqual({ exitCode: 0, stdout: 96 * 2 ** 20, stderr: 16 * 2 ** 20 });
    expect(unread).toEqual({ exitCode: 0, stdout: 0, stderr: 0 });
    expect(lines).toEqual({ exitCode: 0, stdout: 10_000_000, stderr: 0 });
  });

  it("R26 hundreds of children, and those that nobody waits for, are gone with the call", { timeout: 120_000 }, async () => {
    const environment = await open(targetFor(server));
    const { env, survivors } = newTag();
    const abort = new AbortController();
    const command = "for i in $(seq 300); do setsid sleep 600 & done; (true & exec sleep 600) & echo ready; wait";
    const outcome = codeOf(environment.exec(command, { env, signal: abort.signal, onOutput: () => abort.abort() }));
    expect(await outcome).toBe("aborted");
    expect(await survivors()).toEqual([]);
    expect(await run(environment, "echo fine")).toMatchObject({ output: "fine\n" });
    await environment.close();
  });
});

describeTarget(["ssh", "docker"], "R26 a fork bomb on a host that limits processes", () => {
  it("is an error or an end, and the host is to be had afterwards", { timeout: 180_000 }, async () => {
    const directory = await makeScratch();
    const identity = join(directory, "id");
    await runCommand("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", identity]);
    await using container = await startSshContainer(await readFile(`${identity}.pub`, "utf8"));
    const config = join(directory, "config");
    await writeFile(config, `UserKnownHostsFile ${directory}/known_hosts\nGlobalKnownHostsFile none\nIdentityAgent none\n`);
    const target = ssh({
      host: "127.0.0.1",
      port: container.mappedPort(22),
      user: "dev",
      identity,
      config,
      acceptNewHostKey: true,
      cwd: "/workspace",
    });
    const environment = await open(target);
    const bomb = "bomb() { bomb | bomb & }; bomb; sleep 300";
    const outcome = await codeOf(environment.exec(bomb, { signal: AbortSignal.timeout(3_000) }));
    expect(["timeout", "unknown_outcome"]).toContain(outcome);
    // What the kill cannot reach while no process is to be had, the next look does.
    let after = "";
    for (let tries = 0; tries < 20 && !after.startsWith("resolved"); tries += 1) after = await codeOf(run(environment, "echo fine"));
    expect(after).toContain("fine");
    await environment.close();
    await removeScratch(directory);
  });
});
