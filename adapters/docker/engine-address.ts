import { existsSync, readFileSync } from "node:fs";
import type { Agent } from "node:http";
import { homedir } from "node:os";
import { join } from "node:path";
import { GloveboxError } from "../../src/contract/errors.js";

/** A way to an engine that the caller has opened already: an SSH forwarding, a proxy. */
export interface EngineConnection {
  /** For people and error messages: `ssh://build@box`. */
  readonly label: string;
  /** Makes the sockets. Whoever made it closes it. */
  readonly agent: Agent;
}

export interface EngineOptions {
  /** `unix:///path`, `tcp://host:port`, `https://host:port`. Default: DOCKER_HOST, else the first default socket there is. */
  readonly host?: string;
  /** Directory with ca.pem, cert.pem and key.pem for a TCP engine. Default: DOCKER_CERT_PATH. */
  readonly certificates?: string;
  /** Instead of `host`. */
  readonly engine?: EngineConnection;
  /** Accepts tcp:// without TLS to another machine: anyone on the way can read everything and become root there. */
  readonly allowUnencryptedEngine?: boolean;
}

/** Where the engine is, in the words of docker-modem. Every key is given, so that its own reading of the environment has no say. */
export interface EngineAddress {
  readonly label: string;
  /** The engine runs on this machine: paths of its host are ours. */
  readonly local: boolean;
  readonly agent?: Agent;
  readonly modem: {
    readonly protocol: "http" | "https";
    readonly socketPath: string | undefined;
    readonly host: string | undefined;
    readonly port: string | undefined;
    readonly ca: Buffer | undefined;
    readonly cert: Buffer | undefined;
    readonly key: Buffer | undefined;
    readonly timeout: undefined;
  };
}

const NOWHERE = {
  socketPath: undefined,
  host: undefined,
  port: undefined,
  ca: undefined,
  cert: undefined,
  key: undefined,
  timeout: undefined,
};
type Variables = Readonly<Record<string, string | undefined>>;

/** Reads the options and, for what they leave out, the variables that the docker command reads. Throws `invalid_argument`. */
export function engineAddress(options: EngineOptions, variables: Variables = process.env): EngineAddress {
  const { engine } = options;
  if (engine !== undefined) {
    const modem = { ...NOWHERE, protocol: "http", host: "engine", port: "80" } as const;
    return { label: engine.label, local: false, agent: engine.agent, modem };
  }
  const given = options.host ?? variables.DOCKER_HOST;
  const text = given === undefined || given === "" ? `unix://${defaultSocket(variables)}` : given;
  if (text.startsWith("unix://")) {
    const socketPath = text.slice("unix://".length);
    if (!socketPath.startsWith("/")) throw refuse(text, "a socket needs an absolute path: unix:///var/run/docker.sock");
    return { label: text, local: true, modem: { ...NOWHERE, protocol: "http", socketPath } };
  }
  return overNetwork(text, options, variables);
}

function overNetwork(text: string, options: EngineOptions, variables: Variables): EngineAddress {
  const url = parse(text);
  if (url.protocol === "ssh:") {
    throw refuse(
      text,
      "an engine behind SSH is reached by a target URL, docker://NAME/path?host=ssh://user@host, or with the option engine",
    );
  }
  if (!["tcp:", "http:", "https:"].includes(url.protocol)) throw refuse(text, "it must begin with unix://, tcp:// or https://");
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "" || !["", "/"].includes(url.pathname)) {
    throw refuse(text.replace(/\/\/[^/]*@/, "//…@"), "it may hold a host and a port only");
  }
  const directory = options.certificates ?? variables.DOCKER_CERT_PATH;
  const encrypted = url.protocol === "https:" || Boolean(directory) || Boolean(variables.DOCKER_TLS_VERIFY) || url.port === "2376";
  if (!encrypted && !isLoopback(url.hostname) && options.allowUnencryptedEngine !== true) {
    throw refuse(
      text,
      "without TLS anyone on the way becomes root there: set DOCKER_CERT_PATH, or allowUnencryptedEngine if the way is safe",
    );
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const port = url.port || (encrypted ? "2376" : "2375");
  const files = encrypted && directory ? readCertificates(directory) : {};
  return {
    label: `tcp://${url.hostname}:${port}`,
    local: false,
    modem: { ...NOWHERE, ...files, protocol: encrypted ? "https" : "http", host, port },
  };
}

function parse(text: string): URL {
  try {
    const url = new URL(text.includes("://") ? text : `tcp://${text}`);
    if (url.hostname !== "") return url;
  } catch {
    // said below
  }
  throw refuse(text, "it names no host");
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d+){3}$/.test(hostname);
}

function readCertificates(directory: string): Pick<EngineAddress["modem"], "ca" | "cert" | "key"> {
  const read = (name: string): Buffer => {
    try {
      return readFileSync(join(directory, name));
    } catch (cause) {
      const message = `Cannot read ${name} in ${directory} for the Docker engine's TLS. Set DOCKER_CERT_PATH to the directory that holds ca.pem, cert.pem and key.pem.`;
      throw new GloveboxError("auth_failed", message, { cause });
    }
  };
  return { ca: read("ca.pem"), cert: read("cert.pem"), key: read("key.pem") };
}

function defaultSocket(variables: Variables): string {
  const standard = "/var/run/docker.sock";
  const candidates = [
    standard,
    join(homedir(), ".docker/run/docker.sock"),
    join(variables.XDG_RUNTIME_DIR || "/nonexistent", "docker.sock"),
  ];
  return candidates.find((path) => existsSync(path)) ?? standard;
}

function refuse(host: string, why: string): GloveboxError {
  return new GloveboxError("invalid_argument", `The Docker host ${JSON.stringify(host)} cannot be used: ${why}.`);
}
