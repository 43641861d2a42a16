import { posix } from "node:path";
import type { Entry, FileKind, Stat, VerbOptions } from "../../src/contract/operations.js";
import { errorOf, refusal } from "./errors.js";
import type { LaneCall } from "./lane.js";
import type { LanePool } from "./lane-pool.js";
import { isWithin, plainPath } from "./paths.js";
import { readCall } from "./read.js";
import { lastOf, type Words, wordsOf } from "./reply.js";

const IDLE_MS = 20_000;
const MAX_LISTING_BYTES = 256 * 1024 * 1024;

async function ask(
  lanes: LanePool,
  call: LaneCall,
  path: string,
  signal?: AbortSignal,
): Promise<{ readonly body: Buffer; readonly words: Words }> {
  const last = lastOf(await readCall(lanes, call, signal));
  const words = wordsOf(last);
  if (words.first !== "ok") throw errorOf(words, path);
  return { body: last.body, words };
}

export async function stat(lanes: LanePool, path: string, { signal }: VerbOptions = {}): Promise<Stat> {
  const call = { verb: "s", arguments: [plainPath(path)], maxReplyBytes: 1024, idleMs: IDLE_MS };
  const { words } = await ask(lanes, call, path, signal);
  const first = words.take();
  const second = words.take();
  return /^[bcdlps-][rwxsStT-]{9}/.test(second) ? statOfLs(first, second, words) : statOfStat(first, second, words);
}

/** `81a4 1234 1795990518 2026-11-29 22:15:18.536518578 +0000 /path` */
function statOfStat(raw: string, size: string, words: Words): Stat {
  const mode = Number.parseInt(raw, 16);
  const seconds = words.number();
  words.take();
  const fraction = /\.(\d{1,9})$/.exec(words.take())?.[1] ?? "0";
  words.take();
  return {
    kind: KIND_OF_MODE.get(mode & 0o170000) ?? "unknown",
    size: Number(size),
    mode: mode & 0o7777,
    mtimeMs: seconds * 1000 + Math.floor(Number(fraction.padEnd(9, "0")) / 1e6),
    canonicalPath: words.rest(),
  };
}

/* A map: a formatter once took octal keys of an object for numbers to another base. */
const KIND_OF_MODE: ReadonlyMap<number, FileKind> = new Map([
  [0o100000, "file"],
  [0o040000, "directory"],
  [0o120000, "symlink"],
  [0o010000, "fifo"],
  [0o140000, "socket"],
  [0o060000, "block_device"],
  [0o020000, "character_device"],
]);

/** `1795990518 -rw-r--r-- 1234 /path`: without `stat -c`, to the second. */
function statOfLs(seconds: string, permissions: string, words: Words): Stat {
  const kind = KIND_OF_LETTER[permissions.startsWith("-") ? "f" : (permissions[0] ?? "")] ?? "unknown";
  const size = words.number();
  return {
    kind,
    size: kind === "block_device" || kind === "character_device" ? 0 : size,
    mode: modeOf(permissions),
    mtimeMs: Number(seconds) * 1000,
    canonicalPath: words.rest(),
  };
}

/** What find's `%y` says. */
export const KIND_OF_LETTER: Readonly<Record<string, FileKind>> = {
  f: "file",
  d: "directory",
  l: "symlink",
  p: "fifo",
  s: "socket",
  b: "block_device",
  c: "character_device",
};

/** `rwxr-sr-T` as a number. */
function modeOf(permissions: string): number {
  let mode = 0;
  for (let at = 1; at <= 9; at += 1) {
    const letter = permissions[at] ?? "-";
    const bit = 1 << (9 - at);
    if (/[rwxst]/.test(letter)) mode |= bit;
    if (/[sStT]/.test(letter)) mode |= at === 3 ? 0o4000 : at === 6 ? 0o2000 : 0o1000;
  }
  return mode;
}

export async function readdir(lanes: LanePool, path: string, { signal }: VerbOptions = {}): Promise<readonly Entry[]> {
  const call = { verb: "d", arguments: [plainPath(path)], maxReplyBytes: MAX_LISTING_BYTES, idleMs: IDLE_MS };
  const { body } = await ask(lanes, call, path, signal);
  return parseEntries(body);
}

/** The words of scripts/list.ts. Names that no directory can hold are a hostile target's: they are left out. */
export function parseEntries(body: Buffer): readonly Entry[] {
  const entries: Entry[] = [];
  let at = 0;
  const take = (): string => {
    const end = body.indexOf(0, at);
    const text = body.toString("utf8", at, end === -1 ? body.byteLength : end);
    at = end === -1 ? body.byteLength : end + 1;
    return text;
  };
  while (at < body.byteLength) {
    const word = take();
    const link = word.startsWith("l");
    const name = word.slice(link ? 2 : 1);
    const linkTarget = link ? take() : undefined;
    if (name === "" || name === "." || name === ".." || name.includes("/")) continue;
    const linkKind = link ? KIND_OF_LETTER[word[1] ?? ""] : undefined;
    entries.push({
      name,
      kind: KIND_OF_LETTER[word[0] ?? ""] ?? "unknown",
      ...(linkTarget === undefined ? {} : { linkTarget }),
      ...(linkKind === undefined ? {} : { linkKind }),
    });
  }
  return entries;
}

export async function realpath(lanes: LanePool, roots: readonly string[], path: string, { signal }: VerbOptions = {}): Promise<string> {
  const call = { verb: "rp", arguments: [plainPath(path)], maxReplyBytes: 1024, idleMs: IDLE_MS };
  const { words } = await ask(lanes, call, path, signal);
  const normal = posix.normalize(words.rest()).replace(/(.)\/$/s, "$1");
  if (roots.length > 0 && !roots.some((root) => isWithin(root, normal))) throw refusal("outside_root", path);
  return normal;
}
