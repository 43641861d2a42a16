import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { type HostRequest, type HostSettings, resolveSettings } from "../../../adapters/ssh/settings.js";
import { describeTarget } from "../../support/describe-target.js";

const CONFIG = `
# A comment
Host box
  HostName %h.example.com
  User ci
  Port 2222
  IdentityFile ~/keys/%r-%n
  IdentityFile "%d/second key"
  ConnectTimeout 3
  UserKnownHostsFile ~/hosts-one ~/hosts-two
  StrictHostKeyChecking accept-new
  ServerAliveInterval 1
  ServerAliveCountMax 4
  ProxyJump first@one:2201,two
  HostKeyAlias the-box
  IdentitiesOnly yes
  IdentityAgent none
  HashKnownHosts yes
Host quiet
  ServerAliveInterval 0
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  IdentityAgent ~/agent.sock
Host patient
  ServerAliveInterval 60
  IdentityAgent $OTHER_AGENT
Host commanded
  ProxyCommand nc %h %p
Host *.lab !bad.lab
  User lab
Host *
  Port 22
`;

const original = { PATH: process.env.PATH, SSH_AUTH_SOCK: process.env.SSH_AUTH_SOCK };

describeTarget("ssh", "the ssh configuration", () => {
  let directory = "";
  let configFile = "";
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "glovebox-test-"));
    configFile = join(directory, "config");
    writeFileSync(configFile, CONFIG);
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  afterEach(() => {
    for (const [name, value] of Object.entries(original)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  /** By `ssh -G`, and by our own reading of the file where there is no ssh. */
  async function both(request: Omit<HostRequest, "configFile">): Promise<HostSettings> {
    const bySsh = await resolveSettings({ ...request, configFile });
    process.env.PATH = directory;
    const byUs = await resolveSettings({ ...request, configFile });
    process.env.PATH = original.PATH;
    // The one default that ssh has and we cannot know: it depends on how it was built.
    const { identityFiles, ...rest } = byUs;
    expect(rest).toEqual({ ...bySsh, identityFiles: undefined });
    if (identityFiles[0]?.startsWith(`${homedir()}/.ssh/`)) expect(bySsh.identityFiles).toEqual(expect.arrayContaining([...identityFiles]));
    else expect(identityFiles).toEqual(bySsh.identityFiles);
    return bySsh;
  }

  it("is honoured", async () => {
    process.env.SSH_AUTH_SOCK = "/agent";
    expect(await both({ host: "box" })).toEqual({
      hostName: "box.example.com",
      user: "ci",
      port: 2222,
      identityFiles: [`${homedir()}/keys/ci-box`, `${homedir()}/second key`],
      identitiesOnly: true,
      connectTimeoutMs: 3000,
      knownHostsFiles: [`${homedir()}/hosts-one`, `${homedir()}/hosts-two`, "/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"],
      userKnownHostsFile: `${homedir()}/hosts-one`,
      hostKeyAlias: "the-box",
      hashKnownHosts: true,
      acceptNewHostKey: true,
      keepaliveMs: 1000,
      silentIntervals: 4,
      jumps: ["first@one:2201", "two"],
    });
  });

  it("what the caller says comes first", async () => {
    expect(await both({ host: "box", user: "me", port: 22 })).toMatchObject({
      user: "me",
      port: 22,
      identityFiles: [`${homedir()}/keys/me-box`, expect.anything()],
    });
  });

  it("never switches the watch on a dead link off, and never off the checking of host keys", async () => {
    expect(await both({ host: "quiet" })).toMatchObject({
      keepaliveMs: 2500,
      silentIntervals: 5,
      acceptNewHostKey: false,
      agentSocket: `${homedir()}/agent.sock`,
    });
    expect((await both({ host: "quiet" })).userKnownHostsFile).toBeUndefined();
    process.env.OTHER_AGENT = "/other";
    expect(await both({ host: "patient" })).toMatchObject({ keepaliveMs: 2500, silentIntervals: 5, agentSocket: "/other" });
    delete process.env.OTHER_AGENT;
  });

  it("knows patterns, and what is not theirs", async () => {
    expect(await both({ host: "a.lab" })).toMatchObject({ user: "lab", hostName: "a.lab", port: 22 });
    expect(await both({ host: "bad.lab" })).toMatchObject({ user: userInfo().username });
    process.env.SSH_AUTH_SOCK = "/agent";
    expect(await both({ host: "elsewhere" })).toMatchObject({
      agentSocket: "/agent",
      connectTimeoutMs: 10_000,
      jumps: [],
      identitiesOnly: false,
      userKnownHostsFile: `${homedir()}/.ssh/known_hosts`,
    });
  });

  it("a ProxyCommand is refused, and so is a file that cannot be read", async () => {
    await expect(resolveSettings({ host: "commanded", configFile })).rejects.toMatchObject({ code: "unsupported" });
    writeFileSync(join(directory, "broken"), 'Host box\n  HostName "unended\n  Nonsense here\n');
    for (const path of [original.PATH, directory]) {
      process.env.PATH = path;
      await expect(resolveSettings({ host: "box", configFile: join(directory, "missing") })).rejects.toMatchObject({
        code: "invalid_argument",
      });
      await expect(resolveSettings({ host: "box", configFile: join(directory, "broken") })).rejects.toMatchObject({
        code: "invalid_argument",
      });
    }
  });

  it("where we read it, nothing of it is run or looked up", async () => {
    const witness = join(directory, "ran");
    const file = join(directory, "hostile");
    writeFileSync(
      file,
      `CanonicalizeHostname yes\nCanonicalDomains example.com\nMatch exec "touch ${witness}"\n  User hostile\nHost box\n  CanonicalizeHostname yes\n  CanonicalDomains example.com\n`,
    );
    writeFileSync(join(directory, "nslookup"), `#!/bin/sh\n: >${witness}\n`, { mode: 0o755 });
    process.env.PATH = directory;
    expect(await resolveSettings({ host: "box", configFile: file })).toMatchObject({ hostName: "box" });
    process.env.PATH = original.PATH;
    await expect(import("node:fs/promises").then(({ stat }) => stat(witness))).rejects.toMatchObject({ code: "ENOENT" });
  });
});
