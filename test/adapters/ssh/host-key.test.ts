import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openHost, type SshOptions } from "../../../adapters/ssh/index.js";
import type { GloveboxError } from "../../../src/index.js";
import { describeTarget } from "../../support/describe-target.js";
import { runCommand } from "../../support/run-command.js";
import { makeScratch, removeScratch } from "../../support/scratch.js";
import { type SshServer, startSshd } from "../../support/sshd.js";
import { optionsFor } from "./scene.js";

describeTarget("ssh", "host keys", () => {
  let directory = "";
  let server: SshServer;
  let files = 0;
  const keys: Record<string, string> = {};
  const at = (name: string): string => join(directory, name);
  const here = (): string => `[${server.host}]:${server.port}`;

  beforeAll(async () => {
    directory = await makeScratch();
    for (const type of ["ed25519", "ecdsa", "rsa"]) {
      await runCommand("ssh-keygen", ["-q", "-t", type, "-N", "", "-C", "", "-f", at(type)]);
      keys[type] = (await readFile(at(`${type}.pub`), "utf8")).trim();
    }
    server = await startSshd({ config: [`HostKey ${at("rsa")}`] });
  });
  afterAll(async () => {
    await server?.stop();
    await removeScratch(directory);
  });

  /** Options under which these lines are what is known, and what else the configuration says. */
  async function knowing(
    lines: string,
    more: { readonly options?: Partial<SshOptions>; readonly config?: readonly string[]; readonly hash?: boolean } = {},
  ) {
    files += 1;
    const knownHosts = at(`known-${files}`);
    await writeFile(knownHosts, lines);
    if (more.hash) await runCommand("ssh-keygen", ["-H", "-f", knownHosts]);
    const config = at(`config-${files}`);
    await writeFile(config, [`UserKnownHostsFile ${knownHosts}`, "GlobalKnownHostsFile none", ...(more.config ?? [])].join("\n"));
    const { hostKey, ...options } = optionsFor(server);
    return { knownHosts, options: { ...options, config, ...more.options } };
  }

  async function connect(options: SshOptions): Promise<void> {
    const host = await openHost(options, "test");
    await host.close();
  }

  /** Refused before anything of an authentication was sent, as the server's own log says. */
  async function refusal(options: SshOptions): Promise<GloveboxError> {
    const before = (await server.readLog()).length;
    const error = await connect(options).then(
      () => undefined,
      (each: GloveboxError) => each,
    );
    if (error === undefined) throw new Error("it connected");
    const log = (await server.readLog()).slice(before);
    expect(log).toMatch(/Connection from/);
    expect(log).not.toMatch(/authenticating user|Accepted|Failed|Postponed|userauth/);
    expect(error).toMatchObject({ code: "host_key" });
    return error;
  }

  it("an unknown one is refused, with its fingerprint and the command that adds it", async () => {
    const { options } = await knowing("");
    const error = await refusal(options);
    expect(error.message).toContain(server.hostKeyFingerprint);
    expect(error.message).toContain(`hostKey=${server.hostKeyFingerprint}`);
    expect(error.details).toMatchObject({ host: here(), fingerprint: server.hostKeyFingerprint, keyType: "ssh-ed25519" });
    await runCommand("sh", ["-c", String(error.details.add)]);
    await connect(options);
  });

  it("a new one is accepted and written down by that option's name only, or by StrictHostKeyChecking accept-new", async () => {
    const { options, knownHosts } = await knowing("# no line feed at the end", {
      config: ["HashKnownHosts no", "StrictHostKeyChecking no"],
    });
    await refusal(options);
    await connect({ ...options, acceptNewHostKey: true });
    expect(await readFile(knownHosts, "utf8")).toBe(`# no line feed at the end\n${here()} ${server.hostKey}\n`);
    await connect(options);
    const hashing = await knowing("", { config: ["HashKnownHosts yes", "StrictHostKeyChecking accept-new"] });
    await connect(hashing.options);
    expect(await readFile(hashing.knownHosts, "utf8")).toMatch(/^\|1\|\S+\|\S+ ssh-ed25519 \S+\n$/);
    const { stdout } = await runCommand("ssh-keygen", ["-F", here(), "-f", hashing.knownHosts]);
    expect(stdout).toContain(server.hostKey);
    await connect({ ...hashing.options, acceptNewHostKey: false });
  });

  it("R34 one that changed is refused, whatever else is said", async () => {
    const changed = `${here()} ${keys.ed25519}\n`;
    const { options, knownHosts } = await knowing(changed, {
      options: { acceptNewHostKey: true },
      config: ["StrictHostKeyChecking accept-new"],
    });
    const error = await refusal(options);
    expect(error.message).toContain("known_hosts holds another one (ssh-ed25519)");
    expect(error.message).toContain(`ssh-keygen -R '${here()}'`);
    expect(await readFile(knownHosts, "utf8")).toBe(changed);
  });

  it("one that is revoked is refused, in known_hosts and by RevokedHostKeys", async () => {
    const trusted = `${here()} ${server.hostKey}\n`;
    const { options } = await knowing(`${trusted}@revoked * ${server.hostKey}\n`, { options: { acceptNewHostKey: true } });
    expect((await refusal(options)).message).toContain("revoked");
    await writeFile(at("revoked"), `${keys.rsa}\n${server.hostKey} lost\n`);
    const listed = await knowing(trusted, { config: [`RevokedHostKeys ${at("revoked")}`] });
    expect((await refusal(listed.options)).message).toContain("revoked");
    await expect(connect({ ...listed.options, hostKey: server.hostKeyFingerprint })).rejects.toMatchObject({ code: "host_key" });
    await runCommand("ssh-keygen", ["-q", "-k", "-f", at("krl"), at("rsa.pub")]);
    for (const list of [at("krl"), at("missing")]) {
      const unusable = await knowing(trusted, { config: [`RevokedHostKeys ${list}`] });
      await expect(connect(unusable.options)).rejects.toMatchObject({ code: "host_key" });
    }
  });

  it.each([
    ["a line of its own", () => `${here()} ${server.hostKey}\n`, false],
    ["a hashed line", () => `${here()} ${server.hostKey}\n`, true],
    ["a wildcard", () => `[127.0.0.?]:* ${server.hostKey}\n`, false],
    ["another key beside it", () => `${here()} ${keys.ecdsa}\n${here()} ${server.hostKey}\n`, false],
    ["a line for the standard port, as ssh accepts it", () => `${server.host} ${server.hostKey}\n`, false],
  ])("is accepted for %s", async (_what, lines, hash) => {
    await connect((await knowing(lines(), { hash })).options);
  });

  it("an alias is looked up without the port", async () => {
    const config = ["HostKeyAlias the-box"];
    await connect((await knowing(`the-box ${server.hostKey}\n`, { config })).options);
    expect((await refusal((await knowing(`${here()} ${server.hostKey}\n`, { config })).options)).details.host).toBe("the-box");
  });

  it("a certificate authority alone is not enough, and no reason to trust a new key", async () => {
    const { options } = await knowing(`@cert-authority * ${server.hostKey}\n`, { options: { acceptNewHostKey: true } });
    expect((await refusal(options)).message).toContain("certificate authority");
  });

  it("the host is asked for a key of the kind that is known, and refused when it has none", async () => {
    await connect((await knowing(`${here()} ${keys.rsa}\n`)).options);
    const { options } = await knowing(`${here()} ${keys.ecdsa}\n`, { options: { acceptNewHostKey: true } });
    expect((await refusal(options)).message).toContain("ecdsa-sha2-nistp256");
  });

  it("a pin is the only key that counts", async () => {
    await connect((await knowing("", { options: { hostKey: server.hostKeyFingerprint } })).options);
    await connect((await knowing("", { options: { hostKey: server.hostKeyFingerprint.replace("SHA256:", "") } })).options);
    const { options } = await knowing(`${here()} ${server.hostKey}\n`, {
      options: { hostKey: `SHA256:${"A".repeat(43)}`, acceptNewHostKey: true },
    });
    expect((await refusal(options)).message).toContain("not the pinned");
  });

  it("a list that cannot be read does not count as empty", async () => {
    const { options } = await knowing("", { options: { acceptNewHostKey: true } });
    await writeFile(at("unreadable"), `UserKnownHostsFile ${directory}\n`);
    await expect(connect({ ...options, config: at("unreadable") })).rejects.toMatchObject({ code: "host_key" });
  });

  it("a server that knows only SHA-1 is not talked to", async () => {
    await using old = await startSshd({ config: [`HostKey ${at("rsa")}`, "HostKeyAlgorithms ssh-rsa"] });
    const { hostKey, ...options } = optionsFor(old);
    await expect(connect({ ...options, acceptNewHostKey: true })).rejects.toMatchObject({ code: "unsupported" });
    expect(await old.readLog()).not.toMatch(/authenticating user|Accepted/);
  });

  it("the key is checked again on every connection", async () => {
    await using other = await startSshd();
    const { options } = await knowing(`[${other.host}]:${other.port} ${other.hostKey}\n`);
    const first = await openHost({ ...options, port: other.port, identity: other.privateKeyPath }, "test");
    await runCommand("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", at("new")]);
    await other.stopListening();
    // The same address, another key: what a man in the middle looks like after the link was cut.
    await writeFile(join(other.workspace, "..", "host_key"), await readFile(at("new")), { mode: 0o600 });
    await other.startListening();
    await other.killConnections();
    await expect(first.forward("/nowhere")).rejects.toMatchObject({ code: "host_key" });
    await first.close();
    expect((await other.readLog()).split("Server listening").at(-1)).not.toMatch(/authenticating user|Accepted/);
  });
});
