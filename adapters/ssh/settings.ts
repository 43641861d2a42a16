import { execFile } from "node:child_process";
import { homedir, hostname, userInfo } from "node:os";
import { GloveboxError } from "../../src/contract/errors.js";
import { readConfigFile } from "./config-file.js";

/** How to reach one host, after the user's ssh configuration had its say. */
export interface HostSettings {
  readonly hostName: string;
  readonly port: number;
  readonly user: string;
  /** What known_hosts is searched for instead of the name and the port. */
  readonly hostKeyAlias?: string;
  /** Private key files in order of trial; they need not exist. */
  readonly identityFiles: readonly string[];
  /** An agent may only sign with the keys of these files. */
  readonly identitiesOnly: boolean;
  /** An agent's socket; absent for none. */
  readonly agentSocket?: string;
  readonly connectTimeoutMs: number;
  readonly knownHostsFiles: readonly string[];
  /** The file that a newly accepted key is written to. */
  readonly userKnownHostsFile?: string;
  readonly hashKnownHosts: boolean;
  readonly revokedKeysFile?: string;
  /** StrictHostKeyChecking accept-new. */
  readonly acceptNewHostKey: boolean;
  /** The server is asked for a sign of life this often, and is dead after so many intervals without any. */
  readonly keepaliveMs: number;
  readonly silentIntervals: number;
  /** Hosts to go through, the first one first, as `[user@]host[:port]`. */
  readonly jumps: readonly string[];
}

export interface HostRequest {
  readonly host: string;
  readonly user?: string;
  readonly port?: number;
  /** An ssh_config file instead of the user's and the system's; "none" for none. */
  readonly configFile?: string;
}

/** As `ssh -G` prints them: keys in lower case. */
export type ConfigValues = ReadonlyMap<string, readonly string[]>;

const CONNECT_TIMEOUT_MS = 10_000;
/** A dead link is noticed after five to six of these: within 15 s, so that there is time for one more try within 20 s. */
const KEEPALIVE_MS = 2_500;
const SILENT_INTERVALS = 5;

/** The effective settings of a host: from `ssh -G` where there is an ssh, else from the file, read by ourselves. */
export async function resolveSettings(request: HostRequest): Promise<HostSettings> {
  refuseOddName("host", request.host, /^[A-Za-z0-9_:][A-Za-z0-9_.:%-]*$/);
  if (request.user !== undefined) refuseOddName("user", request.user, /^[A-Za-z0-9_][A-Za-z0-9_.@\\+$-]*$/);
  const values = (await askSsh(request)) ?? (await readConfigFile(request));
  return settingsFrom(request, values);
}

/** `[user@]host[:port]`, taken apart; an IPv6 address stands in brackets. Throws `invalid_argument`. */
export function parseHost(text: string): HostRequest {
  const match = /^(?:ssh:\/\/)?(?:(.*)@)?(?:\[([^\]]+)\]|([^:@[\]/]+))(?::(\d{1,5}))?\/?$/s.exec(text);
  const host = match?.[2] ?? match?.[3];
  const port = match?.[4] === undefined ? undefined : Number(match[4]);
  if (host === undefined || (port !== undefined && (port < 1 || port > 65_535))) {
    throw new GloveboxError(
      "invalid_argument",
      `${JSON.stringify(text)} is not a host. Write [user@]host[:port], with a port from 1 to 65535.`,
    );
  }
  return { host, ...(match?.[1] && { user: match[1] }), ...(port !== undefined && { port }) };
}

/** A leading dash would be an option to ssh; the rest never occurs in a name. */
function refuseOddName(what: string, name: string, pattern: RegExp): void {
  if (pattern.test(name) && name.length <= 255) return;
  throw new GloveboxError("invalid_argument", `${JSON.stringify(name)} cannot be the ${what} of an SSH target. Check its spelling.`);
}

function askSsh({ host, user, port, configFile }: HostRequest): Promise<ConfigValues | undefined> {
  const options = [
    ...(configFile === undefined ? [] : ["-F", configFile]),
    ...(port === undefined ? [] : ["-p", String(port)]),
    ...(user === undefined ? [] : ["-l", user]),
  ];
  return new Promise((resolve, reject) => {
    const child = execFile("ssh", ["-G", ...options, "--", host], { timeout: 10_000, maxBuffer: 1 << 20 }, (error, stdout, stderr) => {
      if (error === null) resolve(parseSettings(stdout));
      else if ((error as NodeJS.ErrnoException).code === "ENOENT") resolve(undefined);
      else {
        const said = stderr.trim().split("\n").at(-1) || error.message;
        const message = `ssh cannot read its configuration for ${host}: ${said}. Correct the file, or name another one with config=FILE.`;
        reject(new GloveboxError("invalid_argument", message, { cause: error }));
      }
    });
    // `Match exec` runs a program of the user's, which may want to read.
    child.stdin?.end();
  });
}

function parseSettings(text: string): ConfigValues {
  const values = new Map<string, string[]>();
  for (const line of text.split("\n")) {
    const space = line.indexOf(" ");
    if (space <= 0) continue;
    const key = line.slice(0, space).toLowerCase();
    values.set(key, [...(values.get(key) ?? []), line.slice(space + 1)]);
  }
  return values;
}

function settingsFrom(request: HostRequest, values: ConfigValues): HostSettings {
  const one = (key: string): string | undefined => {
    const value = values.get(key)?.[0];
    return value === undefined || value.toLowerCase() === "none" ? undefined : value;
  };
  if (one("proxycommand") !== undefined) {
    throw new GloveboxError(
      "unsupported",
      `The ssh configuration reaches ${request.host} by a ProxyCommand, which is not supported. Use ProxyJump, or a configuration of its own with config=FILE.`,
    );
  }
  const number = (key: string): number => Number(one(key) ?? 0) || 0;
  const hostName = one("hostname") ?? request.host;
  const port = request.port ?? (number("port") || 22);
  const user = request.user ?? one("user") ?? userInfo().username;
  const hostKeyAlias = one("hostkeyalias");
  const expand = expander({ original: request.host, hostName, port, user, alias: hostKeyAlias ?? request.host });
  const files = (list: string): readonly string[] => list.split(/\s+/).filter(isFile).map(expand);
  const [userKnownHostsFile, ...others] = files(one("userknownhostsfile") ?? "~/.ssh/known_hosts ~/.ssh/known_hosts2");
  const agent = agentSocket(values.get("identityagent")?.[0], expand);
  const revoked = one("revokedhostkeys");
  const jumps = one("proxyjump");
  return {
    hostName,
    port,
    user,
    ...(hostKeyAlias !== undefined && { hostKeyAlias }),
    identityFiles: (values.get("identityfile") ?? []).filter(isFile).map(expand),
    identitiesOnly: one("identitiesonly") === "yes",
    ...(agent !== undefined && { agentSocket: agent }),
    connectTimeoutMs: number("connecttimeout") * 1000 || CONNECT_TIMEOUT_MS,
    knownHostsFiles: [
      ...(userKnownHostsFile === undefined ? [] : [userKnownHostsFile]),
      ...others,
      ...files(one("globalknownhostsfile") ?? "/etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2"),
    ],
    ...(userKnownHostsFile !== undefined && { userKnownHostsFile }),
    hashKnownHosts: one("hashknownhosts") === "yes",
    ...(revoked !== undefined && { revokedKeysFile: expand(revoked) }),
    acceptNewHostKey: one("stricthostkeychecking") === "accept-new",
    ...keepalive(number("serveraliveinterval") * 1000, number("serveralivecountmax")),
    jumps: jumps === undefined ? [] : jumps.split(",").map((each) => each.trim()),
  };
}

/** The user's own interval and count where they notice a dead link sooner than ours; never later, and never not at all. */
function keepalive(intervalMs: number, count: number): Pick<HostSettings, "keepaliveMs" | "silentIntervals"> {
  if (intervalMs <= 0 || intervalMs > KEEPALIVE_MS) return { keepaliveMs: KEEPALIVE_MS, silentIntervals: SILENT_INTERVALS };
  const most = Math.floor((KEEPALIVE_MS * SILENT_INTERVALS) / intervalMs);
  return { keepaliveMs: intervalMs, silentIntervals: Math.min(Math.max(count, 1), most) };
}

function isFile(name: string): boolean {
  return name !== "" && name.toLowerCase() !== "none" && name !== "/dev/null";
}

function agentSocket(setting: string | undefined, expand: (text: string) => string): string | undefined {
  if (setting?.toLowerCase() === "none") return undefined;
  if (setting === undefined || setting === "SSH_AUTH_SOCK") return process.env.SSH_AUTH_SOCK || undefined;
  const variable = /^\$\{?(\w+)\}?$/.exec(setting)?.[1];
  return (variable === undefined ? expand(setting) : process.env[variable]) || undefined;
}

interface Names {
  readonly original: string;
  readonly hostName: string;
  readonly port: number;
  readonly user: string;
  readonly alias: string;
}

/** `~`, `%` tokens and `${VARIABLE}` in the name of a file, as ssh_config(5) has them. */
function expander({ original, hostName, port, user, alias }: Names): (text: string) => string {
  const us = userInfo();
  const tokens: Readonly<Record<string, string>> = {
    "%": "%",
    d: homedir(),
    h: hostName,
    i: String(us.uid),
    k: alias,
    L: hostname().split(".")[0] ?? "",
    l: hostname(),
    n: original,
    p: String(port),
    r: user,
    u: us.username,
  };
  return (text) =>
    text
      .replace(/^"(.*)"$/, "$1")
      .replace(/^~(?=\/|$)/, homedir())
      .replaceAll(/%([%dhikLlnpru])/g, (_all, token: string) => tokens[token] ?? "")
      .replaceAll(/\$\{(\w+)\}/g, (_all, name: string) => process.env[name] ?? "");
}
