import { afterAll, beforeAll, describe, it } from "vitest";
import { ssh } from "../../adapters/ssh/index.js";
import { openEnvironment } from "../../src/environment.js";
import { type ContractOptions, type ContractSession, contractCases, openContract } from "../../src/testing/index.js";
import { describeTarget } from "../support/describe-target.js";
import { findProgram } from "../support/packages.js";
import { type SshServer, startDropbear, startSshd } from "../support/sshd.js";
import { describeContract } from "./run.js";
import { loopbackHost } from "./ssh-hosts.js";

const target = (server: SshServer) =>
  ssh(server.url, { identity: server.privateKeyPath, hostKey: server.hostKeyFingerprint, config: "none" });

const FILE_THEMES = ["read", "read lines", "write", "write if match", "stat", "readdir", "realpath", "names", "content", "environment"];
const hasDropbear = process.getuid?.() === 0 && findProgram("dropbear") !== undefined;

describeTarget("ssh", "the contract over OpenSSH", () => {
  let server: SshServer;
  beforeAll(async () => {
    server = await startSshd();
  });
  afterAll(() => server?.stop());
  describeContract("ssh", () => target(server), { variants: ["plain", "behind all layers"] });
});

/** The cases of the file verbs alone. */
function describeFileVerbs(start: () => Promise<SshServer>, optionsOf: (server: SshServer) => Partial<ContractOptions>): void {
  let server: SshServer;
  let session: ContractSession;
  beforeAll(async () => {
    server = await start();
    session = await openContract({ open: () => openEnvironment(target(server)), ...optionsOf(server) });
  });
  afterAll(async () => {
    await session?.close();
    await server?.stop();
  });
  for (const each of contractCases.filter(({ theme }) => FILE_THEMES.includes(theme))) {
    it(`${each.theme}: ${each.name}${each.id === undefined ? "" : ` (${each.id})`}`, { timeout: 130_000 }, async ({ skip }) => {
      const reason = session.skipReason(each);
      if (reason !== undefined) skip(reason);
      await session.run(each);
    });
  }
}

describeTarget("ssh", "the contract of the file verbs", () => {
  describe("over SFTP, where no command is to be had", () => {
    const start = () => startSshd({ config: ["ForceCommand internal-sftp"] });
    describeFileVerbs(start, ({ account }) => ({ host: () => loopbackHost(account.uid, account.gid), ordinaryUser: account.uid !== 0 }));
  });

  describe.skipIf(!hasDropbear)("over dropbear, another server", () => {
    describeFileVerbs(startDropbear, () => ({}));
  });
});
