import type { TargetDescription } from "../../src/contract/target.js";
import type { SshTransport } from "./transport.js";
import { VANISHED_AFTER_MS } from "./watch.js";

/** What the verbs' own description says, and what the link adds. */
export function describeHost(own: TargetDescription, { link, watch, id }: SshTransport, label: string): TargetDescription {
  const { server } = link;
  const unwatched =
    "The server cannot be watched from within: if this machine vanishes without closing its connections, what runs there goes on until the server notices. Set ClientAliveInterval there.";
  return {
    ...own,
    kind: "ssh",
    label,
    isolation: "the account on the host: a command can do whatever that account may",
    warnings: [...own.warnings, ...(watch.watching === false ? [unwatched] : [])],
    facts: {
      ...own.facts,
      account: id.replace(/^ssh:/, ""),
      connections: link.connections,
      ...(watch.watching === true && { vanishedAfterMs: VANISHED_AFTER_MS }),
      ...(server && {
        server: server.software,
        hostKey: `${server.hostKeyFingerprint} (${server.algorithms.hostKey})`,
        cipher: server.algorithms.cipher,
        keyExchange: server.algorithms.kex,
      }),
    },
  };
}
