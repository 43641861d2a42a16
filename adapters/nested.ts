import { Agent, type ClientRequestArgs } from "node:http";
import type { Duplex } from "node:stream";
import { parseTargetUrl } from "../src/contract/address.js";
import { GloveboxError } from "../src/contract/errors.js";
import type { Adapter, Connection, ConnectOptions, Target } from "../src/contract/target.js";
import { type DockerExtras, type DockerOptions, docker, readAddress as readDockerAddress } from "./docker/index.js";
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
  const where = `ssh://${options.user === undefined ? "" : `${options.user}@`}${options.host}`;
  const nestedLabel = `${label}${label.includes("?") ? "&" : "?"}host=${where}`;
  return { kind: "docker", label: nestedLabel, connect: (connecting) => connect(container, options, socketPath, nestedLabel, connecting) };
}

/** `docker://CONTAINER/path?host=ssh://[user@]host[:port][/socket]`; options of the SSH part in it, its `?` and `&` written %3F and %26. */
export const adapter: Adapter = (address) => {
  const text = address.options.get("host") ?? "";
  const { cwd, root, env, durable, hardLinks, ...host } = readSshAddress(parseTargetUrl(text));
  for (const [name, value] of Object.entries({ root, durable, hardLinks })) {
    if (value === undefined) continue;
    throw new GloveboxError("invalid_argument", `The option ${name} is of no use in the host of a container. Leave it out.`, {
      retrySafe: true,
    });
  }
  const options = new Map([...address.options].filter(([name]) => name !== "host"));
  return dockerOverSsh(readDockerAddress({ ...address, options }), {
    ...host,
    ...(cwd !== undefined && cwd !== "/" && { socketPath: cwd }),
  });
};

async function connect(
  container: DockerOptions,
  options: SshOptions,
  socketPath: string,
  label: string,
  connecting: ConnectOptions,
): Promise<Connection<DockerExtras>> {
  const host = await openHost(options, label, connecting);
  const agent = agentOver(host, socketPath);
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

/** Each connection that HTTP asks for is a channel to the engine's socket. */
function agentOver(host: SshHost, socketPath: string): Agent {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: MAX_FREE_SOCKETS });
  const createConnection = (_options: ClientRequestArgs, done: (error: Error | null, socket?: Duplex) => void): undefined => {
    host.forward(socketPath).then(
      (socket) => done(null, socket),
      (error: Error) => done(error),
    );
  };
  return Object.assign(agent, { createConnection });
}
