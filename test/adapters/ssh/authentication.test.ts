import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openHost, type SshOptions } from "../../../adapters/ssh/index.js";
import { GloveboxError } from "../../../src/index.js";
import { describeTarget } from "../../support/describe-target.js";
import { runCommand } from "../../support/run-command.js";
import { makeScratch, removeScratch } from "../../support/scratch.js";
import { type SshServer, startSshd } from "../../support/sshd.js";
import { eventually, optionsFor } from "./scene.js";

describeTarget("ssh", "logging in", () => {
  let directory = "";
  let server: SshServer;
  let agent: ChildProcess;
  let configs = 0;
  const at = (name: string): string => join(directory, name);
  const socket = (): string => at("agent.sock");
  const passphrase = "a passphrase of no value";

  beforeAll(async () => {
    directory = await makeScratch();
    server = await startSshd({ config: ["MaxAuthTries 2"] });
    agent = spawn("ssh-agent", ["-D", "-a", socket()], { stdio: "ignore" });
    // A copy of the key that is let in, locked with a passphrase, its public half beside it; and keys that nobody knows.
    await runCommand("cp", [server.privateKeyPath, at("locked")]);
    await runCommand("cp", [`${server.privateKeyPath}.pub`, at("locked.pub")]);
    await runCommand("ssh-keygen", ["-q", "-p", "-P", "", "-N", passphrase, "-f", at("locked")]);
    for (const name of ["stranger-1", "stranger-2", "stranger-3"]) {
      await runCommand("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", at(name)]);
    }
    await eventually("the agent answers", async () => (await add("-l")) !== 2);
    for (const name of ["stranger-1", "stranger-2", "stranger-3"]) await add(at(name));
    await add(server.privateKeyPath);
  });
  afterAll(async () => {
    agent?.kill();
    if (agent?.exitCode === null) await once(agent, "exit");
    await server?.stop();
    await removeScratch(directory);
  });

  async function add(...options: readonly string[]): Promise<number> {
    return (await runCommand("ssh-add", [...options], { allowFailure: true, env: { SSH_AUTH_SOCK: socket() } })).exitCode;
  }

  async function withConfig(...lines: readonly string[]): Promise<SshOptions> {
    configs += 1;
    const config = at(`config-${configs}`);
    await writeFile(config, `${lines.join("\n")}\n`);
    const { identity, ...options } = optionsFor(server);
    return { ...options, config };
  }

  async function login(options: SshOptions): Promise<string> {
    const host = await openHost(options, "test").catch((error: GloveboxError) => error);
    if (host instanceof GloveboxError) return `${host.code}: ${host.message}`;
    await host.close();
    return "logged in";
  }

  it("with a key file that the configuration names", async () => {
    expect(await login(await withConfig("IdentityAgent none", `IdentityFile ${server.privateKeyPath}`))).toBe("logged in");
  });

  it("with the agent: the key that is named comes first, though the agent has more than the server has patience", async () => {
    expect(await login(await withConfig(`IdentityAgent ${socket()}`, `IdentityFile ${at("locked")}`))).toBe("logged in");
    const all = await login(await withConfig(`IdentityAgent ${socket()}`, "IdentityFile /nowhere"));
    expect(all).toMatch(/^auth_failed: .*accepted none of the keys/);
  });

  it("IdentitiesOnly leaves the agent's other keys alone", async () => {
    const log = (await server.readLog()).length;
    const answer = await login(await withConfig(`IdentityAgent ${socket()}`, "IdentitiesOnly yes", `IdentityFile ${at("stranger-2")}`));
    expect(answer).toMatch(/^auth_failed/);
    expect((await server.readLog()).slice(log).match(/Failed publickey/g)?.length).toBe(1);
  });

  it("with a passphrase, from the callback or the variable, and never a word of it in an error", async () => {
    const options = { ...(await withConfig("IdentityAgent none")), identity: at("locked") };
    expect(await login({ ...options, passphrase: () => passphrase })).toBe("logged in");
    process.env.GLOVEBOX_SSH_PASSPHRASE = passphrase;
    expect(await login(options)).toBe("logged in");
    delete process.env.GLOVEBOX_SSH_PASSPHRASE;
    expect(await login(options)).toMatch(/^auth_failed: The key file .* is encrypted and no passphrase was given/);
    expect(await login({ ...options, passphrase: () => `not ${passphrase}` })).not.toContain(passphrase);
  });

  it("an identity named by the caller is the only one, and may be in the agent", async () => {
    expect(await login({ ...(await withConfig(`IdentityAgent ${socket()}`)), identity: at("locked") })).toBe("logged in");
    expect(await login({ ...(await withConfig(`IdentityAgent ${socket()}`)), identity: at("stranger-1") })).toMatch(/^auth_failed/);
  });

  it("R34 an agent that is gone is passed over, and told of when nothing else helps", async () => {
    const gone = `IdentityAgent ${at("nobody.sock")}`;
    expect(await login(await withConfig(gone, `IdentityFile ${server.privateKeyPath}`))).toBe("logged in");
    expect(await login(await withConfig(gone, `IdentityFile ${at("stranger-1")}`))).toMatch(
      /accepted none of the keys.*nobody\.sock cannot be used/,
    );
    expect(await login(await withConfig(gone, "IdentityFile /nowhere"))).toMatch(
      /^auth_failed: There is no key to log in with.*nobody\.sock.*identity=FILE/,
    );
  });

  it("nothing is forwarded, and modern algorithms are agreed on", async () => {
    expect(
      await login({ ...(await withConfig("IdentityAgent none", "ForwardAgent yes", "ForwardX11 yes")), identity: server.privateKeyPath }),
    ).toBe("logged in");
    expect(await server.readLog()).not.toMatch(/forward/i);
  });
});
