import { createHash } from "node:crypto";
import { readdirSync, readlinkSync, symlinkSync, unlinkSync } from "node:fs";
import { dirname } from "node:path/posix";
import { abortError } from "../../src/contract/errors.js";
import { errnoOf, refusal, toGloveboxError } from "./errors.js";
import { isProvablyDead, ownerOfThisProcess, ownerText, parseOwner } from "./owner.js";
import { pause } from "./pause.js";
import { existingPrivateDirectory, openPrivateDirectory } from "./private-directory.js";
import { sweepTemporaryFiles } from "./temporary-files.js";

/** How long a living holder is waited for. */
const PATIENCE_MS = 30_000;
/** Connecting is not held up by another's sweep. */
const SWEEP_PATIENCE_MS = 200;
const LONGEST_PAUSE_MS = 50;

/** Longer names are replaced by a hash, so that they fit a directory entry with what is put behind them. */
const MAX_NAME_BYTES = 200;

/** The lock of a file: every Glovebox process of this account agrees on it, whatever adapter it came through. */
export function lockName(canonicalPath: string): string {
  const name = `lock-${canonicalPath.replaceAll("%", "%25").replaceAll("/", "%2F")}`;
  return Buffer.byteLength(name) <= MAX_NAME_BYTES ? name : `lock-sha256-${createHash("sha256").update(canonicalPath).digest("hex")}`;
}

/** Undefined for a hashed one. */
function pathOfLock(name: string): string | undefined {
  if (!name.startsWith("lock-%2F")) return undefined;
  return name.slice("lock-".length).replaceAll("%2F", "/").replaceAll("%25", "%");
}

export interface LockOptions {
  readonly signal?: AbortSignal;
  readonly patienceMs?: number;
}

/**
 * Takes the lock of a file and returns the function that lets go of it. Waits while another holds it; the lock of a
 * holder that is provably dead is broken, and what that one left beside the file is removed. Rejects `busy` after 30 s.
 */
export async function lockFile(canonicalPath: string, { signal, patienceMs = PATIENCE_MS }: LockOptions = {}): Promise<() => void> {
  const name = lockName(canonicalPath);
  const deadline = performance.now() + patienceMs;
  const leave = await takeTurn(name, deadline, signal);
  try {
    const release = await acquire({ name, canonicalPath, deadline, signal });
    return () => {
      release();
      leave();
    };
  } catch (error) {
    leave();
    throw error;
  }
}

/** Breaks what processes that are provably dead still hold, and removes their temporary files. Says how many files those were. */
export async function sweepLocks(): Promise<number> {
  const directory = existingPrivateDirectory();
  if (directory === undefined) return 0;
  let removed = 0;
  for (const name of readdirSync(directory)) {
    if (!name.startsWith("lock-")) continue;
    const held = readHolder(`${directory}/${name}`);
    if (held === undefined || !isDead(held)) continue;
    const breaking = breakLock(directory, name, held, pathOfLock(name), performance.now() + SWEEP_PATIENCE_MS);
    // Somebody else is at it.
    removed += await breaking.catch(() => 0);
  }
  return removed;
}

/* Writers of this process queue up here: the lock on disk is polled, which is neither fair nor quick. */
const turns = new Map<string, Promise<void>>();

async function takeTurn(name: string, deadline: number, signal: AbortSignal | undefined): Promise<() => void> {
  const before = turns.get(name);
  let leave = (): void => {};
  const mine = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const last = before === undefined ? mine : before.then(() => mine);
  turns.set(name, last);
  void last.then(() => {
    if (turns.get(name) === last) turns.delete(name);
  });
  if (before === undefined) return leave;
  try {
    await untilTurn(before, name, deadline, signal);
    return leave;
  } catch (error) {
    leave();
    throw error;
  }
}

function untilTurn(before: Promise<void>, name: string, deadline: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    };
    const abort = (): void => {
      settle();
      reject(abortError(signal as AbortSignal, { retrySafe: true }));
    };
    const timer = setTimeout(() => {
      settle();
      reject(tooLong(name, "another write of this process"));
    }, deadline - performance.now());
    if (signal?.aborted) return abort();
    signal?.addEventListener("abort", abort, { once: true });
    void before.then(() => {
      settle();
      resolve();
    });
  });
}

interface Wanted {
  readonly name: string;
  readonly canonicalPath?: string;
  readonly deadline: number;
  readonly signal?: AbortSignal;
}

async function acquire({ name, canonicalPath, deadline, signal }: Wanted): Promise<() => void> {
  const directory = openPrivateDirectory();
  const path = `${directory}/${name}`;
  const own = ownerText(ownerOfThisProcess());
  for (let waitMs = 2; ; waitMs = Math.min(waitMs * 2, LONGEST_PAUSE_MS)) {
    if (take(path, own)) return () => letGo(path);
    const holder = readHolder(path);
    if (holder === undefined) continue;
    if (isDead(holder)) {
      await breakLock(directory, name, holder, canonicalPath, deadline);
      continue;
    }
    if (performance.now() + waitMs > deadline) throw tooLong(path, `${holder}`);
    await pause(waitMs, signal);
  }
}

function take(path: string, own: string): boolean {
  try {
    symlinkSync(own, path);
    return true;
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return false;
    if (errnoOf(error) !== "ENOENT") throw toGloveboxError(error, `Taking the lock ${path}`);
    // Somebody cleaned up /tmp.
    openPrivateDirectory();
    return false;
  }
}

function letGo(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Gone already: /tmp was cleaned up.
  }
}

/** Undefined when nobody holds it. */
function readHolder(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    return errnoOf(error) === "ENOENT" ? undefined : "something that is no lock";
  }
}

/** A text that names no process is nobody who could be proved dead. */
function isDead(holder: string): boolean {
  const owner = parseOwner(holder);
  return owner !== undefined && isProvablyDead(owner);
}

/** Only one process at a time breaks a lock, and only if it is still the one it looked at. */
async function breakLock(
  directory: string,
  name: string,
  holder: string,
  canonicalPath: string | undefined,
  deadline: number,
): Promise<number> {
  const path = `${directory}/${name}`;
  const release = await acquire({ name: `${name}.break`, deadline });
  try {
    if (readHolder(path) !== holder) return 0;
    const owner = parseOwner(holder);
    const removed = canonicalPath === undefined || owner === undefined ? 0 : sweepTemporaryFiles(dirname(canonicalPath), owner);
    letGo(path);
    return removed;
  } finally {
    release();
  }
}

function tooLong(lock: string, holder: string): Error {
  return refusal(
    "busy",
    `The file is locked by ${holder}, which did not let go in time. Wait for that write, or stop that process; the lock is ${lock}.`,
    { details: { lock } },
  );
}
