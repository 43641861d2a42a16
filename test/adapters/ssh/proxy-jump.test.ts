import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ssh } from "../../../adapters/ssh/index.js";
import { describeTarget } from "../../support/describe-target.js";
import { makeScratch, removeScratch } from "../../support/scratch.js";
import { type SshServer, startSshd } from "../../support/sshd.js";
import { codeOf, eventually, open, run } from "./scene.js";

describeTarget("ssh", "ProxyJump", () => {
  let directory = "";
  let config = "";
  const servers: SshServer[] = [];

  beforeAll(async () => {
    directory = await makeScratch();
    config = join(directory, "config");
    servers.push(...(await Promise.all([startSshd(), startSshd(), startSshd({ config: ["ClientAliveInterval 0"] })])));
    const [first, second, last] = servers;
    const host = (name: string, server: SshServer | undefined, ...more: readonly string[]): string =>
      [
        `Host ${name}`,
        `  HostName ${server?.host}`,
        `  Port ${server?.port}`,
        `  User ${server?.account.name}`,
        `  IdentityFile ${server?.privateKeyPath}`,
        `  UserKnownHostsFile ${server?.knownHostsPath}`,
        ...more.map((each) => `  ${each}`),
      ].join("\n");
    await writeFile(
      config,
      [
        host("first", first),
        host("second", second, "ProxyJump first"),
        host("last", last, "ProxyJump second"),
        host("listed", last, "ProxyJump first,second"),
        host("unknown-jump", last, `ProxyJump ${first?.account.name}@${first?.host}:${first?.port}`),
        host("round", last, "ProxyJump round"),
        host("dead-end", last, "ProxyJump nowhere"),
        "Host nowhere\n  HostName 127.0.0.1\n  Port 1",
        `Host *\n  IdentityFile ${first?.privateKeyPath}\n  IdentityAgent none\n  UserKnownHostsFile none\n  GlobalKnownHostsFile none\n`,
      ].join("\n"),
    );
  });
  afterAll(async () => {
    for (const server of servers) await server.stop();
    await removeScratch(directory);
  });

  it.each(["last", "listed"])("over two hops, each with keys of its own (%s)", async (host) => {
    const before = await Promise.all(servers.map((server) => server.readLog()));
    const environment = await open(ssh({ host, config, cwd: servers[2]?.workspace }));
    expect((await run(environment, "echo there")).output).toBe("there\n");
    await environment.writeFile("a.txt", Buffer.from("x".repeat(100_000)));
    expect((await environment.readFile("a.txt")).size).toBe(100_000);
    for (const [index, server] of servers.entries()) {
      expect((await server.readLog()).slice(before[index]?.length)).toContain("Accepted publickey");
    }
    // It is another machine than one of the same address without the hops.
    expect(environment.id).toContain("?via=");
  });

  it("a hop that is cut takes the connection along, and the next call comes through again", async () => {
    const environment = await open(ssh({ host: "last", config, cwd: servers[2]?.workspace }));
    await environment.writeFile("kept", Buffer.from("x"));
    await servers[0]?.killConnections();
    expect((await environment.readFile("kept")).size).toBe(1);
    await eventually(
      "the server behind the hop has let go of the old one",
      async () => ((await servers[2]?.connectionPids()) ?? []).length <= 2,
    );
  });

  it("a jump host has to be known, too, and neither pin nor consent is for it", async () => {
    const target = ssh({
      host: "unknown-jump",
      config,
      identity: servers[2]?.privateKeyPath,
      hostKey: servers[2]?.hostKeyFingerprint,
      acceptNewHostKey: true,
    });
    expect(await codeOf(target.connect({}))).toBe("host_key");
  });

  it("a circle ends, and a hop that does not answer is named", async () => {
    await expect(ssh({ host: "round", config }).connect({})).rejects.toThrow(/more than 8 hosts/);
    await expect(ssh({ host: "dead-end", config }).connect({})).rejects.toMatchObject({
      code: "disconnected",
      message: expect.stringContaining("127.0.0.1"),
    });
  });
});
