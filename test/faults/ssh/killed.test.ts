import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Client, type ConnectConfig } from "ssh2";
import { expect, it } from "vitest";
import { codeOf, eventually, newTag, open, optionsFor, run, sleep, targetFor } from "../../adapters/ssh/scene.js";
import { describeTarget } from "../../support/describe-target.js";
import { killAll } from "../../support/processes.js";
import { startProxy } from "../../support/proxy.js";
import { type SshServer, startSshd } from "../../support/sshd.js";
import { trials } from "../local/trials.js";

/** From the end of our side, or the reconnect, until nothing of a command is left. */
const ORPHANS_MS = 10_000;
/** So many commands run whenever something is killed. */
const AT_ONCE = 10;
const rounds = Math.ceil(trials / AT_ONCE);

/** A process of its own that runs commands; resolves when all of them run. */
async function startCommands(server: SshServer, tag: string) {
  const program = fileURLToPath(new URL("./command-program.ts", import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", program, JSON.stringify(optionsFor(server)), String(AT_ONCE), tag], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return child;
}

describeTarget("ssh", `R02 our own process is killed while commands run (${rounds} times ${AT_ONCE})`, () => {
  it(`P6 nothing of them is left after ${ORPHANS_MS} ms, setsid children included`, { timeout: 120_000 + rounds * 20_000 }, async () => {
    await using server = await startSshd();
    for (let round = 0; round < rounds; round += 1) {
      const { env, survivors } = newTag();
      const child = await startCommands(server, env.FAULT_TAG);
      expect((await survivors()).length).toBeGreaterThanOrEqual(AT_ONCE * 3);
      child.kill("SIGKILL");
      await eventually("nothing is left", async () => (await survivors()).length === 0, ORPHANS_MS);
    }
    // Whoever comes next finds nothing in the way.
    const environment = await open(targetFor(server));
    expect(await run(environment, "echo fine")).toMatchObject({ output: "fine\n" });
    await environment.close();
  });
});

describeTarget("ssh", "R14 what serves the connection is killed", () => {
  it(`P6 P9 the fate of what ran is unknown, never success, and nothing of it is left (${rounds} times ${AT_ONCE})`, {
    timeout: 120_000 + rounds * 20_000,
  }, async () => {
    await using server = await startSshd();
    const environment = await open(targetFor(server));
    for (let round = 0; round < rounds; round += 1) {
      const { env, survivors } = newTag();
      const commands = Array.from({ length: AT_ONCE }, () =>
        codeOf(environment.exec("setsid sleep 600 & nohup sleep 601 & sleep 602", { env })),
      );
      await eventually("they run", async () => (await survivors()).length >= AT_ONCE * 3);
      await server.killConnections();
      for (const outcome of await Promise.all(commands)) expect(outcome).toBe("unknown_outcome");
      expect(await run(environment, "echo back")).toMatchObject({ output: "back\n", exitCode: 0 });
      await eventually("nothing is left", async () => (await survivors()).length === 0, ORPHANS_MS);
    }
    await environment.close();
  });

  it("kill works after a reconnect: an abort reaches what a new connection runs", async () => {
    await using server = await startSshd();
    const environment = await open(targetFor(server));
    for (let round = 0; round < 5; round += 1) {
      await server.killConnections();
      // What is sent before the end of the old connection is seen has an unknown fate.
      await eventually("the link is made again", async () => (await codeOf(run(environment, "true"))).startsWith("resolved"));
      const { env, survivors } = newTag();
      const abort = new AbortController();
      const command = environment.exec("setsid sleep 600 & (sleep 601 &); echo ready; sleep 602", {
        env,
        signal: abort.signal,
        onOutput: () => abort.abort(),
      });
      expect(await codeOf(command)).toBe("aborted");
      expect(await survivors()).toEqual([]);
    }
    await environment.close();
  });
});

describeTarget("ssh", "R04 a command is killed from outside", () => {
  it(`P9 its end is told as it was, never as success (${trials} times)`, { timeout: 60_000 + trials * 3_000 }, async () => {
    await using server = await startSshd();
    const environment = await open(targetFor(server));
    const one = async (trial: number): Promise<void> => {
      const signal = trial % 2 === 0 ? "SIGKILL" : "SIGTERM";
      const { env, survivors } = newTag();
      const running = environment.exec("exec sleep 600", { env });
      await eventually("it runs", async () => (await survivors()).length === 1);
      killAll(await survivors(), signal);
      expect(await running).toEqual({ signal });
    };
    for (let trial = 0; trial < trials; trial += 5)
      await Promise.all(Array.from({ length: Math.min(5, trials - trial) }, (_, index) => one(trial + index)));
    expect(await run(environment, "echo fine")).toMatchObject({ output: "fine\n" });
    await environment.close();
  });
});

describeTarget("ssh", "R27 a child in the background holds the output", () => {
  it(`P5 the call settles soon after the command has (${trials} times)`, { timeout: 60_000 + trials * 3_000 }, async () => {
    await using server = await startSshd();
    const environment = await open(targetFor(server));
    const { env, survivors } = newTag();
    const shapes = [
      "sleep 600 &",
      "setsid sleep 600 &",
      "nohup sleep 600 &",
      "(while :; do echo noise; sleep 0.2; done) &",
      "setsid sh -c 'while :; do echo noise >&2; sleep 0.2; done' &",
    ];
    for (let trial = 0; trial < trials; trial += 5) {
      const results = await Promise.all(
        shapes.slice(0, trials - trial).map(async (shape) => {
          const started = performance.now();
          const result = await run(environment, `${shape} echo done; exit 4`, env);
          return { ...result, ms: performance.now() - started };
        }),
      );
      for (const { exitCode, output, background, ms } of results) {
        expect([exitCode, output.includes("done\n"), (background?.length ?? 0) > 0]).toEqual([4, true, true]);
        expect(ms).toBeLessThan(10_000);
      }
    }
    expect((await survivors()).length).toBeGreaterThanOrEqual(Math.min(trials, 5));
    await environment.close();
    expect(await survivors()).toEqual([]);
  });
});

/** ssh2 as it comes, with a key and no questions asked. */
async function bareClient(server: SshServer, at: { readonly host: string; readonly port: number } = server): Promise<Client> {
  const client = new Client();
  client.on("error", () => undefined);
  const config: ConnectConfig = { ...at, username: server.account.name, privateKey: server.privateKey, hostVerifier: () => true };
  client.connect({ ...config, host: at.host, port: at.port });
  await once(client, "ready");
  return client;
}

describeTarget("ssh", "what it is like without care", () => {
  it("P6 an exec channel of ssh2 leaves its command behind, closed, ended or cut", async () => {
    await using server = await startSshd();
    const { env, survivors } = newTag();
    const waysToLetGo: readonly ((client: Client, channel: { close(): void }) => unknown)[] = [
      (_client, channel) => channel.close(),
      (client) => client.end(),
      (client) => client.destroy(),
    ];
    for (const [index, letGo] of waysToLetGo.entries()) {
      const client = await bareClient(server);
      const channel = await new Promise<{ close(): void }>((resolve) => {
        client.exec(`FAULT_TAG=${env.FAULT_TAG} sleep 600`, (_error, opened) => resolve(opened));
      });
      await eventually("it runs", async () => (await survivors()).length > index);
      letGo(client, channel);
      await sleep(1_000);
      expect((await survivors()).length).toBeGreaterThan(index);
      client.destroy();
    }
    killAll(await survivors(), "SIGKILL");
  });

  it("P1 P4 a write by ssh2's SFTP is torn by a cut", async () => {
    await using server = await startSshd();
    await using proxy = await startProxy(server);
    const path = `${server.workspace}/torn`;
    const [old, fresh] = ["old", "new"].map((word) => word.repeat(2_000_000));
    await writeFile(path, old ?? "");
    await chmod(path, 0o666);
    const client = await bareClient(server, proxy);
    client.sftp((_error, sftp) => {
      sftp.on("error", () => undefined);
      sftp.writeFile(path, fresh ?? "", () => undefined);
    });
    await proxy.cutAfter(1_500_000, "toServer");
    await sleep(1_000);
    const now = await readFile(path, "utf8");
    expect([now === old, now === fresh]).toEqual([false, false]);
  });
});
