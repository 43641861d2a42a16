import { parseTargetUrl } from "../../src/contract/address.js";
import { GloveboxError } from "../../src/contract/errors.js";
import type { Adapter, Connection, ConnectOptions, Target } from "../../src/contract/target.js";
import { connectPosix } from "../posix/index.js";
import { describeHost } from "./describe.js";
import { labelOf, openTransport } from "./open.js";
import { checkOptions, readAddress, type SshOptions } from "./options.js";
import { connectSftp } from "./sftp/connection.js";
import type { SshTransport } from "./transport.js";

/** What an SSH environment has beside the verbs. */
export interface SshExtras {
  /** The key that the host showed, as `ssh-keygen -l` prints it. */
  readonly hostKeyFingerprint: string;
}

/**
 * An account on an SSH host: `ssh({ host: "build-box", cwd: "/srv/app" })` or `ssh("ssh://ci@build-box/srv/app", options)`.
 * Throws `invalid_argument`. Connecting rejects `host_key`, `auth_failed`, `disconnected`, `timeout`, `unsupported` (no
 * common algorithm, neither a shell nor SFTP), `not_found` or `not_directory` for `cwd`.
 */
export function ssh(hostOrUrl: SshOptions | string, more: Omit<SshOptions, "host"> = {}): Target<SshExtras> {
  const options: SshOptions = { ...(typeof hostOrUrl === "string" ? readAddress(parseTargetUrl(hostOrUrl)) : hostOrUrl), ...more };
  checkOptions(options);
  const label = labelOf(options);
  return { kind: "ssh", label, connect: (connecting) => connect(options, label, connecting) };
}

/** `ssh://[user@]host[:port]/path[?identity=FILE&hostKey=SHA256:…&config=FILE&acceptNewHostKey=1&root=PATH&…]` */
export const adapter: Adapter = (address) => ssh(readAddress(address));

async function connect(options: SshOptions, label: string, { signal, onEvent = () => {} }: ConnectOptions): Promise<Connection<SshExtras>> {
  const transport = await openTransport(options, label, onEvent);
  try {
    const connection = await openVerbs(transport, options, { ...(signal && { signal }), onEvent });
    const hostKeyFingerprint = transport.link.server?.hostKeyFingerprint ?? "";
    return {
      ...connection,
      extras: { hostKeyFingerprint },
      describe: async () => describeHost(await connection.describe(), transport, label),
      close() {
        transport.link.hurry();
        return connection.close();
      },
    };
  } catch (error) {
    await transport.close();
    throw error;
  }
}

/** Codes that a host's login shell can be to blame for. */
const SHELL_TROUBLE = ["unsupported", "timeout", "disconnected", "unexpected", "not_started"];

/** Over a shell, or, where none answers, over SFTP. */
async function openVerbs(
  transport: SshTransport,
  options: SshOptions,
  connecting: Required<Pick<ConnectOptions, "onEvent">> & ConnectOptions,
): Promise<Connection> {
  const { cwd, root, durable, hardLinks, env } = options;
  const { signal, onEvent } = connecting;
  try {
    return await connectPosix(transport, {
      // Opening one takes three round trips: so many keep up with commands that follow one another at once.
      maxSpareLanes: 4,
      ...(cwd !== undefined && { cwd }),
      ...(root !== undefined && { root }),
      ...(durable !== undefined && { durable }),
      ...(hardLinks !== undefined && { hardLinks }),
      ...(env !== undefined && { env }),
      ...(signal && { signal }),
      onEvent(event) {
        // The link knows better than one shell on it.
        if (event.type !== "target_lost" && event.type !== "target_restored") onEvent(event);
      },
    });
  } catch (error) {
    const { server, losses } = transport.link;
    // A link that was cut meanwhile says nothing about the shell.
    const isShell = error instanceof GloveboxError && SHELL_TROUBLE.includes(error.code) && server !== undefined && losses === 0;
    if (!isShell || signal?.aborted) throw error;
    return await connectSftp(transport, options, error, signal);
  }
}
