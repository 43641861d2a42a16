import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** One line of a known_hosts file that names a host. */
export interface KnownHost {
  readonly marker: "" | "@revoked" | "@cert-authority";
  /** As written: comma-separated patterns, or one hashed name. */
  readonly names: string;
  readonly keyType: string;
  readonly key: Buffer;
}

export type HostKeyVerdict =
  /** The key is known for this host. */
  | { readonly kind: "known" }
  /** Nothing is known of this host. `authority`: only certificate authorities are, which are not supported. */
  | { readonly kind: "unknown"; readonly authority: boolean }
  /** Other keys are known for this host, of these types. Never to be accepted. */
  | { readonly kind: "changed"; readonly knownTypes: readonly string[] }
  /** The key is marked as revoked. Never to be accepted. */
  | { readonly kind: "revoked" };

/** The lines of a known_hosts file that say something; what cannot be read is passed over, as ssh does. */
export function parseKnownHosts(text: string): readonly KnownHost[] {
  return text.split("\n").flatMap((line) => {
    const words = line.trim().split(/[ \t]+/);
    const marker = words[0] === "@revoked" || words[0] === "@cert-authority" ? words[0] : "";
    const [names, keyType, encoded] = marker === "" ? words : words.slice(1);
    if (!names || names.startsWith("#") || names.startsWith("@") || !keyType || !encoded) return [];
    const key = Buffer.from(encoded, "base64");
    // A line whose key is of another type than it says has been damaged.
    return keyTypeOf(key) === keyType ? [{ marker, names, keyType, key } as const] : [];
  });
}

/** What these lines say of a key that a host presents. `name`: what it is looked up by, see `knownHostName`. */
export function judgeHostKey(lines: readonly KnownHost[], name: string, key: Buffer): HostKeyVerdict {
  const ours = lines.filter((line) => matches(line.names, name));
  if (ours.some((line) => line.marker === "@revoked" && line.key.equals(key))) return { kind: "revoked" };
  const plain = ours.filter((line) => line.marker === "");
  if (plain.some((line) => line.key.equals(key))) return { kind: "known" };
  if (plain.length > 0) return { kind: "changed", knownTypes: [...new Set(plain.map((line) => line.keyType))] };
  return { kind: "unknown", authority: ours.some((line) => line.marker === "@cert-authority") };
}

/** The key types known for a host: what to ask of it first, so that it presents a key that can be checked. */
export function knownKeyTypes(lines: readonly KnownHost[], name: string): readonly string[] {
  const plain = lines.filter((line) => line.marker === "" && matches(line.names, name));
  return [...new Set(plain.map((line) => line.keyType))];
}

/** The name that a host is looked up and written by: `[host]:port` off the standard port. */
export function knownHostName(host: string, port: number): string {
  return port === 22 ? host.toLowerCase() : `[${host.toLowerCase()}]:${port}`;
}

/** A name as it is written with HashKnownHosts: a reader of the file does not learn which hosts we know. */
export function hashedName(name: string): string {
  const salt = randomBytes(20);
  return `|1|${salt.toString("base64")}|${createHmac("sha1", salt).update(name).digest("base64")}`;
}

/** As ssh prints it: `SHA256:` and base64 without padding. */
export function fingerprintOf(key: Buffer): string {
  return `SHA256:${createHash("sha256").update(key).digest("base64").replace(/=+$/, "")}`;
}

/** The type a public key blob says it has: its first length-prefixed string. */
export function keyTypeOf(key: Buffer): string {
  const length = key.length >= 4 ? key.readUInt32BE(0) : 0;
  return length > 0 && length <= 64 && key.length >= 4 + length ? key.toString("latin1", 4, 4 + length) : "unknown";
}

function matches(names: string, name: string): boolean {
  if (names.startsWith("|")) return matchesHash(names, name);
  const patterns = names.toLowerCase().split(",");
  if (patterns.some((pattern) => pattern.startsWith("!") && matchesPattern(pattern.slice(1), name))) return false;
  return patterns.some((pattern) => !pattern.startsWith("!") && matchesPattern(pattern, name));
}

function matchesHash(names: string, name: string): boolean {
  const [, algorithm, salt, hash] = names.split("|");
  if (algorithm !== "1" || !salt || !hash) return false;
  const wanted = Buffer.from(hash, "base64");
  const found = createHmac("sha1", Buffer.from(salt, "base64")).update(name).digest();
  return wanted.length === found.length && timingSafeEqual(wanted, found);
}

/** `*` is any run of characters, `?` any one; everything else stands for itself, brackets included. No regular expression: `*a*a*a…` would stall one. */
export function matchesPattern(pattern: string, name: string): boolean {
  let at = 0;
  let star = -1;
  let resume = 0;
  let index = 0;
  while (index < name.length) {
    if (pattern[at] === "*") {
      star = at;
      resume = index;
      at += 1;
    } else if (at < pattern.length && (pattern[at] === "?" || pattern[at] === name[index])) {
      at += 1;
      index += 1;
    } else if (star !== -1) {
      at = star + 1;
      resume += 1;
      index = resume;
    } else return false;
  }
  while (pattern[at] === "*") at += 1;
  return at === pattern.length;
}
