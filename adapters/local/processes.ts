import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { statFields } from "./owner.js";
import { pause } from "./pause.js";

/** What every process of a run has in common. */
export interface Run {
  /** Value of GLOVEBOX_RUN, or the beginning of it: then the runs of a whole connection. */
  readonly tag: string;
  /** The process that leads the run's session and first process group. */
  readonly leader?: number;
}

interface Row {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly startTicks: string;
}

/** The parent of all threads of the kernel. */
const KERNEL_THREADS = 2;
/** From TERM to KILL. */
const GRACE_MS = 2_000;
/** How long processes that do not want to die are hunted. */
const HUNT_MS = 5_000;

/** Pids of the living processes that bear the tag, of those given, else of all. Empty where there is no /proc. */
export function findTagged(tag: string, pids: readonly number[] = allPids()): readonly number[] {
  return pids.filter((pid) => bearsTag(pid, tag));
}

/** A process that is just becoming another program has no environment for a moment. (Corpses and the kernel's own have none, ever.) */
export function isBecoming(pid: number): boolean {
  try {
    if (readEnvironment(pid).length > 0) return false;
    const [state, parent] = statFields(pid) ?? ["X"];
    return state !== "Z" && state !== "X" && Number(parent) !== KERNEL_THREADS;
  } catch {
    return false;
  }
}

export function allPids(): number[] {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

/**
 * Ends a run: TERM to its group, up to 2 s of grace, KILL to the group, then KILL to every process that bears the tag,
 * belongs to the session, or descends from one that does, until none is left. Resolves with the pids that would not die.
 */
export async function killRun(run: Run): Promise<readonly number[]> {
  const known = run.leader === undefined ? new Map<number, string>() : await stopGroup(run, run.leader);
  const giveUpAt = performance.now() + HUNT_MS;
  for (let waitMs = 2; ; waitMs = Math.min(50, waitMs * 2)) {
    const rows = allRows();
    const members = membersOf(run, rows);
    for (const row of rows) if (known.get(row.pid) === row.startTicks && !members.includes(row)) members.push(row);
    if (members.length === 0) return [];
    if (performance.now() > giveUpAt) return members.map(({ pid }) => pid);
    for (const { pid } of members) signal(pid, "SIGKILL");
    await pause(waitMs);
  }
}

/** Returns who belonged to the run before: some would be orphaned, and so no longer found, once their parents die of the TERM. */
async function stopGroup(run: Run, leader: number): Promise<ReadonlyMap<number, string>> {
  const known = new Map(membersOf(run).map(({ pid, startTicks }) => [pid, startTicks]));
  signal(-leader, "SIGTERM");
  signal(-leader, "SIGCONT");
  const started = performance.now();
  for (let waitMs = 2; performance.now() < started + GRACE_MS && signal(-leader, 0); waitMs = Math.min(50, waitMs * 2)) {
    await pause(waitMs);
    // Corpses that nobody buries can still be signalled.
    if (waitMs === 50 && !groupLives(leader)) break;
  }
  signal(-leader, "SIGKILL");
  return known;
}

/** How often the kernel has killed for want of memory since boot, on the whole machine; undefined where it does not say. */
export function outOfMemoryKills(): number | undefined {
  try {
    const [, count] = /^oom_kill (\d+)$/m.exec(readFileSync("/proc/vmstat", "latin1")) ?? [];
    return count === undefined ? undefined : Number(count);
  } catch {
    return undefined;
  }
}

/** The pid that the kernel gave out last. Pids count up and start over at the top. */
export function lastPid(): number | undefined {
  try {
    return Number(readFileSync("/proc/loadavg", "latin1").trim().split(" ").at(-1));
  } catch {
    return undefined;
  }
}

function membersOf({ tag, leader }: Run, rows: readonly Row[] = allRows()): Row[] {
  const members = new Set(rows.filter((row) => row.session === leader || bearsTag(row.pid, tag)));
  for (let before = -1; before !== members.size; ) {
    before = members.size;
    const parents = new Set([...members].map(({ pid }) => pid));
    for (const row of rows) if (parents.has(row.parent)) members.add(row);
  }
  return [...members];
}

/** Every process but this one and the dead ones that nobody has buried. */
function allRows(): Row[] {
  const rows: Row[] = [];
  for (const pid of allPids()) {
    const fields = statFields(pid);
    if (fields === undefined || pid === process.pid || fields[0] === "Z" || fields[0] === "X") continue;
    const [, parent, group, session] = fields.map(Number);
    rows.push({ pid, parent: parent ?? 0, group: group ?? 0, session: session ?? 0, startTicks: fields[19] ?? "" });
  }
  return rows;
}

function groupLives(leader: number): boolean {
  const rows = allRows();
  return rows.length > 0 ? rows.some(({ group }) => group === leader) : signal(-leader, 0);
}

const environment = Buffer.allocUnsafeSlow(128 * 1024);

function bearsTag(pid: number, tag: string): boolean {
  try {
    return readEnvironment(pid).includes(`GLOVEBOX_RUN=${tag}`);
  } catch {
    return false;
  }
}

/** Into one buffer, since there are hundreds to be read; those that are too large for it in the ordinary way. */
function readEnvironment(pid: number): Buffer {
  const fd = openSync(`/proc/${pid}/environ`, "r");
  try {
    let length = 0;
    for (let count = -1; count !== 0; length += count) {
      if (length === environment.byteLength) return readFileSync(`/proc/${pid}/environ`);
      count = readSync(fd, environment, length, environment.byteLength - length, null);
    }
    return environment.subarray(0, length);
  } finally {
    closeSync(fd);
  }
}

/** False when there is nobody to send it to, or not by us. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}
