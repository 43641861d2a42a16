import { afterAll, beforeAll, describe } from "vitest";
import { ssh } from "../../adapters/ssh/index.js";
import { describeTarget } from "../support/describe-target.js";
import { findProgram } from "../support/packages.js";
import { type SshServer, startDropbear, startSshd } from "../support/sshd.js";
import { describeContract, FILE_THEMES } from "./run.js";
import { loopbackHost } from "./ssh-hosts.js";

const target = (server: SshServer) =>
  ssh(server.url, { identity: server.privateKeyPath, hostKey: server.hostKeyFingerprint, config: "none" });

const hasDropbear = process.getuid?.() === 0 && findProgram("dropbear") !== undefined;

describeTarget("ssh", "the contract over OpenSSH", () => {
  let server: SshServer;
  beforeAll(async () => {
    server = await startSshd();
  });
  afterAll(() => server?.stop());
  describeContract("ssh", () => target(server), { variants: ["plain", "behind all layers"] });
});

describeTarget("ssh", "the contract of the file verbs", () => {
  describe("over SFTP, where no command is to be had", () => {
    let server: SshServer;
    beforeAll(async () => {
      server = await startSshd({ config: ["ForceCommand internal-sftp"] });
    });
    afterAll(() => server?.stop());
    const host = () => loopbackHost(server.account.uid, server.account.gid);
    describeContract("ssh by sftp", () => target(server), { host, ordinaryUser: true, variants: ["plain"], themes: FILE_THEMES });
  });

  describe.skipIf(!hasDropbear)("over dropbear, another server", () => {
    let server: SshServer;
    beforeAll(async () => {
      server = await startDropbear();
    });
    afterAll(() => server?.stop());
    describeContract("ssh to dropbear", () => target(server), { variants: ["plain"], themes: FILE_THEMES });
  });
});
