import { createHash, randomBytes } from "node:crypto";
import { GloveboxError } from "../../../src/contract/errors.js";
import { pause } from "../deadline.js";
import { isStatus, type SftpChannel } from "./channel.js";
import { kindOf } from "./paths.js";

/** The locks of the files of an account, as every Glovebox process takes them on that machine. */
export interface Locks {
  /** Runs `work` with the lock of this canonical path. Rejects `busy` when somebody keeps it for 30 s. */
  hold<Result>(canonicalPath: string, work: () => Promise<Result>): Promise<Result>;
}

const PATIENCE_MS = 30_000;
const LONGEST_PAUSE_MS = 50;
const MAX_NAME_BYTES = 200;

/** The process over there that holds our locks: the SFTP server's own, which ends with the channel. */
interface Owner {
  readonly text: string;
  readonly boot: string;
  readonly namespace: string;
  readonly uid: number;
}

const owners = new WeakMap<SftpChannel, Promise<Owner | undefined>>();

/** Undefined where there is no /proc to name the holder by, or no place for locks that is ours alone: nobody is kept out then. */
export async function locksOf(channel: SftpChannel): Promise<Locks | undefined> {
  const owner = await ownerOf(channel);
  if (owner === undefined) return undefined;
  const directory = `/tmp/.glovebox-${owner.uid}`;
  if (!(await isPrivate(channel, directory, owner.uid))) return undefined;
  return {
    async hold(canonicalPath, work) {
      const lock = `${directory}/${lockName(canonicalPath)}`;
      await take(channel, owner, lock, canonicalPath);
      try {
        return await work();
      } finally {
        void channel.unlink(lock).catch(() => undefined);
      }
    },
  };
}

function ownerOf(channel: SftpChannel): Promise<Owner | undefined> {
  const known = owners.get(channel) ?? findOwner(channel).catch(() => undefined);
  owners.set(channel, known);
  return known;
}

async function findOwner(channel: SftpChannel): Promise<Owner | undefined> {
  const [boot, link, stat, facts] = await Promise.all([
    readText(channel, "/proc/sys/kernel/random/boot_id"),
    channel.readlink("/proc/self/ns/pid"),
    readText(channel, "/proc/self/stat"),
    channel.stat("/proc/self"),
  ]);
  const namespace = /\d+/.exec(link)?.[0];
  const start = startOf(stat);
  if (namespace === undefined || start === undefined || boot.trim() === "") return undefined;
  return { text: `${boot.trim()}:${namespace}:${Number.parseInt(stat, 10)}:${start}`, boot: boot.trim(), namespace, uid: facts.uid };
}

/** The start time of a living process; its name, in parentheses, can hold anything. */
function startOf(stat: string): string | undefined {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[19];
}

async function readText(channel: SftpChannel, path: string): Promise<string> {
  const handle = await channel.open(path, "r");
  try {
    return (await channel.read(handle, 0, 4096)).toString("latin1");
  } finally {
    void channel.close(handle).catch(() => undefined);
  }
}

/** Makes the directory where it is missing; false when it is not ours alone. */
export async function isPrivate(channel: SftpChannel, directory: string, uid: number): Promise<boolean> {
  await channel.mkdir(directory, 0o700).catch(() => undefined);
  const facts = await channel.lstat(directory).catch(() => undefined);
  return facts !== undefined && kindOf(facts) === "directory" && facts.uid === uid && (facts.mode & 0o077) === 0;
}

function lockName(canonicalPath: string): string {
  const name = `lock-${canonicalPath.replaceAll("%", "%25").replaceAll("/", "%2F")}`;
  return Buffer.byteLength(name) <= MAX_NAME_BYTES ? name : `lock-sha256-${createHash("sha256").update(canonicalPath).digest("hex")}`;
}

async function take(channel: SftpChannel, owner: Owner, lock: string, path: string): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  for (let waitMs = 5; ; waitMs = Math.min(2 * waitMs, LONGEST_PAUSE_MS)) {
    if (await tryLink(channel, owner.text, lock)) return;
    const holder = await channel.readlink(lock).catch(() => undefined);
    if (holder !== undefined && (await isDead(channel, owner, holder)) && (await breakLock(channel, owner, lock, holder))) continue;
    if (performance.now() > until) {
      const message = `${JSON.stringify(path)} is locked by another writer that does not let go of it. Wait for that write, or stop that process.`;
      throw new GloveboxError("busy", message, { retrySafe: true, path });
    }
    await pause(waitMs);
  }
}

async function tryLink(channel: SftpChannel, target: string, path: string): Promise<boolean> {
  try {
    await channel.symlink(target, path);
    return true;
  } catch (error) {
    if (isStatus(error)) return false;
    throw error;
  }
}

/** Under the lock of the lock, and only when the dead one still holds it. */
async function breakLock(channel: SftpChannel, owner: Owner, lock: string, holder: string): Promise<boolean> {
  const guard = `${lock}.break`;
  if (!(await tryLink(channel, owner.text, guard))) return false;
  try {
    if ((await channel.readlink(lock).catch(() => undefined)) === holder) await channel.unlink(lock);
  } finally {
    await channel.unlink(guard).catch(() => undefined);
  }
  return true;
}

/** Whether the process is provably dead: of another boot, or of our own pid namespace and gone. */
async function isDead(channel: SftpChannel, owner: Owner, holder: string): Promise<boolean> {
  const [, boot, namespace, pid, start] = /^([\w.-]+):(\d+):(\d+):(\d+)$/.exec(holder) ?? [];
  if (boot === undefined) return false;
  if (boot !== owner.boot) return true;
  if (namespace !== owner.namespace) return false;
  try {
    return startOf(await readText(channel, `/proc/${pid}/stat`)) !== start;
  } catch (error) {
    return isStatus(error);
  }
}

/** A name that nobody else uses. */
export function temporaryName(): string {
  return `.glovebox-tmp-0-0-${randomBytes(8).toString("hex")}`;
}
