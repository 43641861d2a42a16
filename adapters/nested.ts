import { Agent, type ClientRequestArgs } from "node:http";
import type { Duplex } from "node:stream";
import { parseTargetUrl } from "../src/contract/address.js";
import { GloveboxError } from "../src/contract/errors.js";
import type { Adapter, Connection, ConnectOptions, Target } from "../src/contract/target.js";
import {
  type DockerExtras,
  type DockerOptions,
  type DockerProvisioner,
  type DockerProvisionerOptions,
  docker,
  dockerProvisioner,
  readAddress as readDockerAddress,
} from "./docker/index.js";
import { openHost, readAddress as readSshAddress, type SshHost, type SshOptions } from "./ssh/index.js";

/** The host whose engine it is. Its account has to be allowed to use the engine's socket. */
export interface EngineHost extends Omit<SshOptions, "cwd" | "root" | "env" | "durable" | "hardLinks"> {
  /** Default: /var/run/docker.sock. */
  readonly socketPath?: string;
}

const ENGINE_SOCKET = "/var/run/docker.sock";
/** Connections to the engine kept for the next request, each a channel of eight. */
const MAX_FREE_SOCKETS = 2;

/**
 * A container of the Docker engine on an SSH host: its verbs, promises and errors are those of `docker`, its way those of
 * `ssh`. The engine's socket is forwarded over one SSH connection (further ones when channels run short); nothing is
 * started on the host but a watchdog. Throws `invalid_argument`; connecting rejects as either of them does.
 */
export function dockerOverSsh(container: DockerOptions, host: EngineHost): Target<DockerExtras> {
  const { label } = docker({ ...container, engine: { label: "ssh", agent: new Agent() } });
  const { socketPath = ENGINE_SOCKET, ...options } = host;
  const nestedLabel = `${label}${label.includes("?") ? "&" : "?"}host=${labelOf(options)}`;
  return { kind: "docker", label: nestedLabel, connect: (connecting) => connect(container, options, socketPath, nestedLabel, connecting) };
}

/**
 * Sandboxes at the engine of an SSH host, for a fleet. Connects on the first call, and again when that failed. Closing it closes
 * the connection. Throws `invalid_argument`.
 */
export function dockerProvisionerOverSsh(sandboxes: DockerProvisionerOptions, host: EngineHost): DockerProvisioner {
  const { socketPath = ENGINE_SOCKET, ...options } = host;
  const label = labelOf(options);
  let opening: Promise<SshHost> | undefined;
  const open = (): Promise<SshHost> => {
    opening ??= openHost(options, label).catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  const agent = agentOver(open, socketPath);
  const provisioner = dockerProvisioner({ ...sandboxes, engine: { label, agent } });
  return {
    ...provisioner,
    async close() {
      await provisioner.close();
      agent.destroy();
      await opening?.then(
        (opened) => opened.close(),
        () => undefined,
      );
    },
  };
}

/** The host of `ssh://[user@]host[:port][/socket]?OPTIONS`. Throws `invalid_argument`. */
export function readEngineHost(text: string): EngineHost {
  const { cwd, root, env, durable, hardLinks, ...host } = readSshAddress(parseTargetUrl(text));
  for (const [name, value] of Object.entries({ root, durable, hardLinks })) {
    if (value === undefined) continue;
    throw new GloveboxError("invalid_argument", `The option ${name} is of no use in the host of a container. Leave it out.`, {
      retrySafe: true,
    });
  }
  return { ...host, ...(cwd !== undefined && cwd !== "/" && { socketPath: cwd }) };
}

/** `docker://CONTAINER/path?host=ssh://[user@]host[:port][/socket]`; options of the SSH part in it, its `?` and `&` written %3F and %26. */
export const adapter: Adapter = (address) => {
  const host = readEngineHost(address.options.get("host") ?? "");
  const options = new Map([...address.options].filter(([name]) => name !== "host"));
  return dockerOverSsh(readDockerAddress({ ...address, options }), host);
};

async function connect(
  container: DockerOptions,
  options: SshOptions,
  socketPath: string,
  label: string,
  connecting: ConnectOptions,
): Promise<Connection<DockerExtras>> {
  const host = await openHost(options, label, connecting);
  const agent = agentOver(async () => host, socketPath);
  const close = async (): Promise<void> => {
    agent.destroy();
    await host.close();
  };
  try {
    const connection = await docker({ ...container, engine: { label: host.label, agent } }).connect(connecting);
    return {
      ...connection,
      async describe() {
        const own = await connection.describe();
        return { ...own, label, facts: { ...own.facts, engine: host.label } };
      },
      async close() {
        try {
          await connection.close();
        } finally {
          await close();
        }
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function labelOf({ user, host }: Pick<SshOptions, "user" | "host">): string {
  return `ssh://${user === undefined ? "" : `${user}@`}${host}`;
}

/** Each connection that HTTP asks for is a channel to the engine's socket. */
function agentOver(open: () => Promise<SshHost>, socketPath: string): Agent {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: MAX_FREE_SOCKETS });
  const createConnection = (_options: ClientRequestArgs, done: (error: Error | null, socket?: Duplex) => void): undefined => {
    open()
      .then((host) => host.forward(socketPath))
      .then(
        (socket) => done(null, socket),
        (error: Error) => done(error),
      );
  };
  return Object.assign(agent, { createConnection });
}
