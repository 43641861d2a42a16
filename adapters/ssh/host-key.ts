import { appendFile, mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { GloveboxError } from "../../src/contract/errors.js";
import { quote } from "../posix/quote.js";
import {
  fingerprintOf,
  hashedName,
  judgeHostKey,
  type KnownHost,
  keyTypeOf,
  knownHostName,
  knownKeyTypes,
  parseKnownHosts,
} from "./known-hosts.js";
import type { HostSettings } from "./settings.js";

export interface TrustOptions {
  /** `SHA256:…`: this key and no other; known_hosts is not asked. */
  readonly hostKey?: string;
  /** Accept the key of a host of which nothing is known, and write it down. A changed or revoked key is refused all the same. */
  readonly acceptNewHostKey?: boolean;
}

/** Decides on one host's keys. */
export interface HostTrust {
  /** The key algorithms to ask for, those of known keys first, so that the host presents what can be checked. */
  readonly algorithms: readonly string[];
  /** Resolves when the key is to be trusted; rejects `host_key` otherwise. */
  check(key: Buffer): Promise<void>;
}

/** Modern algorithms only: no ssh-rsa with SHA-1, no DSA. */
const ALGORITHMS_OF_TYPE: ReadonlyMap<string, readonly string[]> = new Map([
  ["ssh-ed25519", ["ssh-ed25519"]],
  ["ecdsa-sha2-nistp256", ["ecdsa-sha2-nistp256"]],
  ["ecdsa-sha2-nistp384", ["ecdsa-sha2-nistp384"]],
  ["ecdsa-sha2-nistp521", ["ecdsa-sha2-nistp521"]],
  ["ssh-rsa", ["rsa-sha2-512", "rsa-sha2-256"]],
]);
/** How a binary list of revoked keys begins. */
const BINARY_LIST = "SSHKRL\n\0";

/** Reads what is known, once for each connecting, and answers from it. Rejects `host_key` when a list cannot be read. */
export async function hostTrust(settings: HostSettings, options: TrustOptions): Promise<HostTrust> {
  const { hostName, port, hostKeyAlias, knownHostsFiles, revokedKeysFile } = settings;
  const name = hostKeyAlias?.toLowerCase() ?? knownHostName(hostName, port);
  const pinned = options.hostKey === undefined ? undefined : normalizeFingerprint(options.hostKey);
  const texts = pinned === undefined ? await Promise.all(knownHostsFiles.map(readList)) : [];
  const lines = texts.flatMap(parseKnownHosts);
  const revoked = revokedKeysFile === undefined ? [] : await readRevoked(revokedKeysFile);
  const types = [...new Set([...knownKeyTypes(lines, name), ...ALGORITHMS_OF_TYPE.keys()])];

  async function check(key: Buffer): Promise<void> {
    const keyType = keyTypeOf(key);
    const fingerprint = fingerprintOf(key);
    const shown = `${name} presents the host key ${fingerprint} (${keyType})`;
    const refuse = (why: string, more: Record<string, unknown> = {}): never => {
      throw new GloveboxError("host_key", `${shown}, ${why}`, { details: { host: name, fingerprint, keyType, ...more } });
    };
    if (revoked.some((each) => each.equals(key))) refuse("which is revoked. Do not connect; ask the host's owner.");
    if (pinned !== undefined) {
      if (pinned === fingerprint) return;
      refuse(`not the pinned ${pinned}. Somebody may be in between: find out before you change the pin.`, { pinned });
    }
    const verdict = judge(lines, settings, name, key);
    switch (verdict.kind) {
      case "known":
        return;
      case "revoked":
        refuse("which known_hosts marks as revoked. Do not connect; ask the host's owner.");
        break;
      case "changed": {
        const advice = `The host was set up anew, or somebody is in between: ask its owner, then remove the old key with ssh-keygen -R ${quote(name)}.`;
        refuse(`but known_hosts holds another one (${verdict.knownTypes.join(", ")}). ${advice}`, { knownTypes: verdict.knownTypes });
        break;
      }
      case "unknown": {
        const file = settings.userKnownHostsFile;
        if (verdict.authority) {
          refuse("and known_hosts only names a certificate authority for it, which is not supported. Add the host's own key, or pin it.");
        }
        if (options.acceptNewHostKey || settings.acceptNewHostKey) return await remember(settings, name, key);
        const add = `echo ${quote(lineOf(name, key))} >> ${file === undefined ? "~/.ssh/known_hosts" : quote(file)}`;
        refuse(
          `and nothing is known of that host. Compare the fingerprint with its owner, then trust it: ${add} (or pin it: hostKey=${fingerprint}).`,
          { add },
        );
      }
    }
  }

  return { algorithms: types.flatMap((type) => ALGORITHMS_OF_TYPE.get(type) ?? []), check };
}

/** As ssh does, a key known for the host on its standard port is good on any of its ports; a wrong one there says nothing. */
function judge(lines: readonly KnownHost[], { hostName, port, hostKeyAlias }: HostSettings, name: string, key: Buffer) {
  const verdict = judgeHostKey(lines, name, key);
  if (verdict.kind !== "unknown" || hostKeyAlias !== undefined || port === 22) return verdict;
  const portless = judgeHostKey(lines, knownHostName(hostName, 22), key);
  return portless.kind === "known" || portless.kind === "revoked" ? portless : verdict;
}

async function remember({ userKnownHostsFile, hashKnownHosts }: HostSettings, name: string, key: Buffer): Promise<void> {
  if (userKnownHostsFile === undefined) {
    throw new GloveboxError(
      "host_key",
      "There is no known_hosts file to write the new host key to. Set UserKnownHostsFile, or pin the key with hostKey=SHA256:….",
    );
  }
  await mkdir(dirname(userKnownHostsFile), { recursive: true, mode: 0o700 });
  const before = await readList(userKnownHostsFile);
  const start = before === "" || before.endsWith("\n") ? "" : "\n";
  // One write of one line with O_APPEND: readers and other writers see it whole or not at all.
  await appendFile(userKnownHostsFile, `${start}${lineOf(hashKnownHosts ? hashedName(name) : name, key)}\n`, { mode: 0o600 });
}

function lineOf(name: string, key: Buffer): string {
  return `${name} ${keyTypeOf(key)} ${key.toString("base64")}`;
}

/** Only a file that is not there says nothing; one that cannot be read may hold the key that we should insist on. */
async function readList(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return "";
    throw new GloveboxError("host_key", `${file}, which says what host keys are known, cannot be read (${code}). Check its permissions.`, {
      cause: error,
    });
  }
}

async function readRevoked(file: string): Promise<readonly Buffer[]> {
  const text = await readFile(file, "latin1").catch((error: NodeJS.ErrnoException) => {
    const message = `The list of revoked host keys ${file} cannot be read (${error.code}), so that no host key can be trusted. Correct RevokedHostKeys.`;
    throw new GloveboxError("host_key", message, { cause: error });
  });
  if (text.startsWith(BINARY_LIST)) {
    const message = `The list of revoked host keys ${file} is a binary one (KRL), which is not supported. Use a list with one public key per line.`;
    throw new GloveboxError("host_key", message);
  }
  return text.split("\n").flatMap((line) => {
    const [, encoded] = line.trim().split(/[ \t]+/);
    return encoded === undefined ? [] : [Buffer.from(encoded, "base64")];
  });
}

/** Throws `invalid_argument` for what is no fingerprint. */
export function normalizeFingerprint(text: string): string {
  const match = /^(?:SHA256:)?([A-Za-z0-9+/]{43})=?$/.exec(text);
  if (match === null) {
    throw new GloveboxError(
      "invalid_argument",
      `${JSON.stringify(text)} is not a host key fingerprint. Write hostKey=SHA256:… as ssh-keygen -l prints it.`,
    );
  }
  return `SHA256:${match[1]}`;
}
