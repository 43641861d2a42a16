import type { Duplex } from "node:stream";
import type { GloveboxEvent } from "../../src/contract/events.js";
import { channelSocket } from "./channel-socket.js";
import type { ClientOptions } from "./client.js";
import type { SshOptions } from "./options.js";
import { resolveSettings } from "./settings.js";
import { type SshTransport, sshTransport } from "./transport.js";

/** A host that is connected to, for what is not a shell. */
export interface SshHost {
  readonly label: string;
  /** Connects to a Unix socket over there: the stream is that socket. Rejects `permission_denied`, `not_found`, and as connecting does. */
  forward(socketPath: string): Promise<Duplex>;
  close(): Promise<void>;
}

export interface OpenHostOptions {
  /** Told of a lost connection, and of one that is there again. */
  readonly onEvent?: (event: GloveboxEvent) => void;
  readonly signal?: AbortSignal;
}

/** Connects to a host. Rejects as connecting a target does. */
export async function openHost(options: SshOptions, label: string, { onEvent = () => {}, signal }: OpenHostOptions = {}): Promise<SshHost> {
  const { link } = await openTransport(options, label, onEvent);
  try {
    await link.ready(signal);
  } catch (error) {
    await link.close();
    throw error;
  }
  return {
    label: labelOf({ ...options, cwd: undefined }),
    forward: async (socketPath) => channelSocket(await link.forward(socketPath, { purpose: "lane" })),
    close: () => link.close(),
  };
}

/** What a link is opened with: the settings of the host as the configuration has them, and the credentials. Connects on first use. */
export async function openTransport(options: SshOptions, label: string, onEvent: (event: GloveboxEvent) => void): Promise<SshTransport> {
  const { host, user, port, identity, passphrase, hostKey, acceptNewHostKey, config } = options;
  const settings = await resolveSettings({
    host,
    ...(user !== undefined && { user }),
    ...(port !== undefined && { port }),
    ...(config !== undefined && { configFile: config }),
  });
  const client: ClientOptions = {
    ...(identity !== undefined && { identityFile: identity }),
    ...(passphrase !== undefined && { passphrase }),
    ...(hostKey !== undefined && { hostKey }),
    ...(acceptNewHostKey !== undefined && { acceptNewHostKey }),
    ...(config !== undefined && { configFile: config }),
  };
  return sshTransport(settings, client, label, onEvent);
}

/** The URL of a host and a directory, without its options. */
export function labelOf({ host, user, port, cwd }: Pick<SshOptions, "host" | "user" | "port" | "cwd">): string {
  const name = host.includes(":") ? `[${host}]` : host;
  return `ssh://${user === undefined ? "" : `${user}@`}${name}${port === undefined ? "" : `:${port}`}${cwd ?? ""}`;
}
