import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "ssh2";
import { afterEach, expect, it } from "vitest";
import { describeTarget } from "./describe-target.js";
import { findProgram } from "./packages.js";
import { processesWithEnvironment } from "./processes.js";
import { type CommandResult, runCommand } from "./run-command.js";
import { type SshServer, type SshServerOptions, startDropbear, startSshd } from "./sshd.js";

const isRoot = process.getuid?.() === 0;
const clients: Client[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
});

function ssh(server: SshServer, command: string): Promise<CommandResult> {
  const trust = ["-o", `UserKnownHostsFile=${server.knownHostsPath}`, "-o", "BatchMode=yes", "-o", "LogLevel=ERROR"];
  const login = ["-i", server.privateKeyPath, "-p", String(server.port), `${server.account.name}@${server.host}`];
  return runCommand("ssh", [...trust, ...login, command], { allowFailure: true });
}

/** Connects, and says which host key the server showed. */
async function connect(
  server: SshServer,
): Promise<{ readonly client: Client; readonly fingerprint: string; readonly closed: Promise<void> }> {
  const client = new Client();
  clients.push(client);
  let shown = "";
  const closed = new Promise<void>((resolve) => client.once("close", resolve));
  await new Promise<void>((resolve, reject) => {
    client.once("ready", resolve);
    client.on("error", reject);
    client.connect({
      host: server.host,
      port: server.port,
      username: server.account.name,
      privateKey: server.privateKey,
      hostHash: "sha256",
      hostVerifier: (hash: string) => {
        shown = `SHA256:${Buffer.from(hash, "hex").toString("base64").replace(/=+$/, "")}`;
        return true;
      },
    });
  });
  return { client, fingerprint: shown, closed };
}

const kinds = [
  { name: "OpenSSH", start: startSshd, isToBeHad: true },
  { name: "Dropbear", start: startDropbear, isToBeHad: isRoot && findProgram("dropbear") !== undefined },
] as const;
const logins = (isRoot ? ["account", "root"] : ["account"]) satisfies readonly SshServerOptions["login"][];

describeTarget("ssh", "a private SSH server", () => {
  for (const { name, start, isToBeHad } of kinds) {
    for (const login of logins) {
      it.skipIf(!isToBeHad)(`${name}, ${login}: lets in, cuts off, comes back, leaves nothing`, async () => {
        const server = await start({ login });
        expect((await ssh(server, `id -un && cd ${server.workspace} && echo hi > x && cat x`)).stdout).toBe(`${server.account.name}\nhi\n`);

        const { client, fingerprint, closed } = await connect(server);
        expect(fingerprint).toBe(server.hostKeyFingerprint);
        client.exec("sleep 300 & setsid sleep 300 & wait", (_error, stream) => stream.on("error", () => undefined).resume());
        await sleep(300);

        await server.stopListening();
        expect(server.pid).toBeUndefined();
        expect((await ssh(server, "true")).stderr).toContain("Connection refused");
        expect((await server.connectionPids()).length).toBeGreaterThan(0);
        await server.startListening();
        expect((await ssh(server, "echo back")).stdout).toBe("back\n");

        expect(await server.killConnections()).toBeGreaterThan(0);
        await closed;
        expect(await server.readLog()).toMatch(/auth|Accepted/i);
        const sessions = new RegExp(`SSH_CONNECTION=\\S+ \\d+ \\S+ ${server.port}(\\0|$)`);
        expect((await processesWithEnvironment(sessions)).length).toBeGreaterThanOrEqual(2);
        await server.stop();
        await sleep(100);
        expect(await processesWithEnvironment(sessions)).toEqual([]);
      });
    }
  }

  it.skipIf(!isRoot)("takes lines of configuration and another login shell", async () => {
    await using server = await startSshd({ shell: { name: "dash", path: "/bin/dash" }, config: ["MaxSessions 1"] });
    expect((await ssh(server, "echo $0")).stdout).toMatch(/dash\n$/);
    const { client } = await connect(server);
    const open = (): Promise<string> =>
      new Promise((resolve) => {
        client.exec("sleep 5", (error, stream) => {
          stream?.resume();
          resolve(error ? error.message : "opened");
        });
      });
    expect([await open(), await open()]).toEqual(["opened", expect.stringContaining("open failed")]);
  });
});
