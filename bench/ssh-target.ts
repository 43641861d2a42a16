import { type SshExtras, ssh } from "../adapters/ssh/index.js";
import type { Target } from "../src/contract/target.js";
import type { SshServer } from "../test/support/sshd.js";

/** Our own way to a server, through a proxy that makes the link long. */
export function targetBehind(proxy: { readonly host: string; readonly port: number }, server: SshServer): Target<SshExtras> {
  return ssh({
    host: proxy.host,
    port: proxy.port,
    user: server.account.name,
    identity: server.privateKeyPath,
    hostKey: server.hostKeyFingerprint,
    config: "none",
    cwd: server.workspace,
  });
}
