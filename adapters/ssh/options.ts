import { GloveboxError } from "../../src/contract/errors.js";
import type { TargetAddress } from "../../src/contract/target.js";
import { normalizeFingerprint } from "./host-key.js";
import type { PassphraseOf } from "./keys.js";
import { parseHost } from "./settings.js";

export interface SshOptions {
  /** A name or an address, or a Host of the ssh configuration. */
  readonly host: string;
  /** Default: what the ssh configuration says, else our own name. */
  readonly user?: string;
  readonly port?: number;
  /** Working directory on the host. Default: the account's home. */
  readonly cwd?: string;
  /** A guard rail for the file and search verbs; see docs/ssh.md for what it does not stop. Default: none. */
  readonly root?: string;
  /** A private key file. Nothing else is offered then, neither other files nor other keys of an agent. */
  readonly identity?: string;
  /** Asked for the passphrase of an encrypted key file. Default: the variable GLOVEBOX_SSH_PASSPHRASE. */
  readonly passphrase?: PassphraseOf;
  /** `SHA256:…`: this host key and no other. Default: what known_hosts says. */
  readonly hostKey?: string;
  /** Trust, and write down, the key of a host of which nothing is known. A changed or revoked key is refused all the same. */
  readonly acceptNewHostKey?: boolean;
  /** An ssh_config file instead of the user's and the system's; "none" for none. */
  readonly config?: string;
  /** Sync file and directory before a write is acknowledged. Default true. */
  readonly durable?: boolean;
  /** What becomes of a file with other names when it is written. Default "refuse". */
  readonly hardLinks?: "refuse" | "break";
  /** Added to the environment of every command. */
  readonly env?: Readonly<Record<string, string>>;
}

type Written = { -readonly [Key in keyof SshOptions]: SshOptions[Key] };

const READ: Readonly<Record<string, (written: Written, value: string, name: string) => void>> = {
  identity: (written, value) => {
    written.identity = value;
  },
  hostKey: (written, value) => {
    written.hostKey = value;
  },
  config: (written, value) => {
    written.config = value;
  },
  acceptNewHostKey: (written, value, name) => {
    written.acceptNewHostKey = flag(value, name);
  },
  root: (written, value) => {
    written.root = value;
  },
  durable: (written, value, name) => {
    written.durable = flag(value, name);
  },
  hardLinks: (written, value, name) => {
    if (value !== "refuse" && value !== "break") throw refuse(`The option ${name} must be refuse or break, not ${JSON.stringify(value)}`);
    written.hardLinks = value;
  },
};

/** The options that a URL stands for: `ssh://[user@]host[:port][/path][?option=value&…]`. Throws `invalid_argument`. */
export function readAddress({ scheme, authority, path, options, text }: TargetAddress): SshOptions {
  if (scheme !== "ssh" || authority === "") throw refuse(`${JSON.stringify(text)} names no host. Write ssh://[user@]host[:port]/path`);
  const written: Written = parseHost(decodeAuthority(authority, text));
  if (path !== "") written.cwd = path;
  for (const [name, value] of options) {
    const read = Object.hasOwn(READ, name) ? READ[name] : undefined;
    if (read === undefined) {
      throw refuse(`Unknown option ${JSON.stringify(name)} in ${JSON.stringify(text)}: there are ${Object.keys(READ).join(", ")}`);
    }
    read(written, value, name);
  }
  return written;
}

/** Throws `invalid_argument` for options that can never work. */
export function checkOptions({ cwd, root, hostKey, port }: SshOptions): void {
  for (const [what, path] of Object.entries({ "working directory": cwd, root })) {
    if (path === undefined || (path.startsWith("/") && !path.includes("\0"))) continue;
    throw refuse(`The ${what} ${JSON.stringify(path)} is not absolute. Write a path that begins with a slash`);
  }
  if (port !== undefined && !(Number.isInteger(port) && port >= 1 && port <= 65_535))
    throw refuse(`The port ${port} is none: use 1 to 65535`);
  if (hostKey !== undefined) normalizeFingerprint(hostKey);
}

function flag(value: string, name: string): boolean {
  if (value === "1" || value === "true") return true;
  if (value === "0" || value === "false") return false;
  throw refuse(`The option ${name} must be 1 or 0, not ${JSON.stringify(value)}`);
}

function decodeAuthority(authority: string, text: string): string {
  try {
    return decodeURIComponent(authority);
  } catch {
    throw refuse(`${JSON.stringify(text)} holds a "%" that begins no escape`);
  }
}

function refuse(why: string): GloveboxError {
  return new GloveboxError("invalid_argument", `${why}.`, { retrySafe: true });
}
