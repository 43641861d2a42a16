import { dirname } from "node:path/posix";
import type { Stats } from "ssh2";
import { GloveboxError } from "../../../src/contract/errors.js";
import type { FileKind, Stat } from "../../../src/contract/operations.js";
import { refusal } from "../../posix/errors.js";
import { isStatus, type SftpChannel, STATUS } from "./channel.js";

const MAX_LINKS = 40;
const KINDS: ReadonlyMap<number, FileKind> = new Map([
  [0o01, "fifo"],
  [0o02, "character_device"],
  [0o04, "directory"],
  [0o06, "block_device"],
  [0o10, "file"],
  [0o12, "symlink"],
  [0o14, "socket"],
]);

export function kindOf({ mode }: Pick<Stats, "mode">): FileKind {
  return KINDS.get((mode & 0o170000) >> 12) ?? "unknown";
}

export interface Located {
  readonly canonicalPath: string;
  readonly facts: Stats;
}

/** Follows `path`, in one round trip. Rejects with the code that tells why it leads nowhere. */
export async function locate(channel: SftpChannel, path: string): Promise<Located> {
  const [real, facts] = await Promise.allSettled([channel.realpath(path), channel.stat(path)]);
  if (facts.status === "rejected") throw await why(channel, path, facts.reason);
  if (real.status === "rejected") throw await why(channel, path, real.reason);
  return { canonicalPath: real.value, facts: facts.value };
}

export async function stat(channel: SftpChannel, path: string): Promise<Stat> {
  const { canonicalPath, facts } = await locate(channel, path);
  return { kind: kindOf(facts), size: facts.size, mode: facts.mode & 0o7777, mtimeMs: facts.mtime * 1000, canonicalPath };
}

/** Throws for what is no file whose content has an end. */
export function requireRegular({ canonicalPath, facts }: Located, path: string): void {
  const kind = kindOf(facts);
  if (kind === "directory") throw refusal("is_directory", path);
  if (kind !== "file" || /^\/(?:proc|sys)(?:\/|$)/.test(canonicalPath)) throw refusal("not_regular", path);
}

/** What exists of `path` is resolved, in two round trips; the rest is kept, lexically normalised. */
export async function realpath(channel: SftpChannel, path: string): Promise<string> {
  let at = path;
  for (let links = 0; links <= MAX_LINKS; links += 1) {
    const { base, rest } = await resolveExisting(channel, at);
    const target = rest[0] === undefined ? undefined : await channel.readlink(join(base, rest[0])).catch(unlessStatus);
    if (target !== undefined) {
      // A link that leads nowhere: the place it names counts.
      at = [target.startsWith("/") ? target : join(base, target), ...rest.slice(1)].join("/");
      continue;
    }
    let result = base;
    for (const part of rest) result = part === ".." ? dirname(result) : join(result, part);
    return result;
  }
  throw refusal("loop", path);
}

/** The canonical path of the nearest thing on the way that exists, and the components behind it. */
export async function resolveExisting(
  channel: SftpChannel,
  path: string,
): Promise<{ readonly base: string; readonly facts: Stats | undefined; readonly rest: readonly string[] }> {
  const { parts, prefixes } = prefixesOf(path);
  const found = await Promise.all(prefixes.map((prefix) => channel.stat(prefix).catch(unlessStatus)));
  const count = found.includes(undefined) ? found.indexOf(undefined) : found.length;
  const base = count === 0 ? "/" : await channel.realpath(prefixes[count - 1] ?? "/");
  return { base, facts: found[count - 1], rest: parts.slice(count) };
}

function prefixesOf(path: string): { readonly parts: readonly string[]; readonly prefixes: readonly string[] } {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  return { parts, prefixes: parts.map((_part, at) => `/${parts.slice(0, at + 1).join("/")}`) };
}

export function join(directory: string, name: string): string {
  return directory === "/" ? `/${name}` : `${directory}/${name}`;
}

function unlessStatus(error: unknown): undefined {
  if (!isStatus(error)) throw error;
}

/** The protocol says "no such file" of half a dozen things, and "failure" of the rest: this looks which it was. */
export async function why(channel: SftpChannel, path: string, error: unknown): Promise<GloveboxError> {
  if (error instanceof GloveboxError) return error;
  if (!isStatus(error))
    return new GloveboxError("unexpected", `Using ${JSON.stringify(path)} failed: ${String(error)}.`, { cause: error, path });
  if (error.code === STATUS.permissionDenied) return refusal("permission_denied", path);
  if (error.code === STATUS.badMessage) return refusal("invalid_argument", path);
  if (error.code === STATUS.noSuchFile) return refusal(await whyMissing(channel, path), path);
  return new GloveboxError("unexpected", `The SFTP server failed at ${JSON.stringify(path)}: ${error.message}. It does not say why.`, {
    cause: error,
    path,
  });
}

async function whyMissing(channel: SftpChannel, path: string): Promise<"not_found" | "not_directory" | "loop"> {
  const { prefixes } = prefixesOf(path);
  const found = await Promise.all(prefixes.map((prefix) => channel.stat(prefix).catch(() => undefined)));
  const missing = found.indexOf(undefined);
  const before = found[missing === -1 ? found.length - 1 : missing - 1];
  if (before !== undefined && kindOf(before) !== "directory") return "not_directory";
  let at = prefixes[missing] ?? path;
  for (let links = 0; links <= MAX_LINKS; links += 1) {
    const target = await channel.readlink(at).catch(() => undefined);
    if (target === undefined) return "not_found";
    at = target.startsWith("/") ? target : `${dirname(at)}/${target}`;
  }
  return "loop";
}
