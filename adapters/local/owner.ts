import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/**
 * A process as the rest of this machine can tell it from every other, past and present: `bootid:pidns:pid:starttime`.
 * Where there is no /proc (not Linux) the host name stands for the boot, and the other two are 0.
 */
export interface Owner {
  readonly bootId: string;
  /** Inode of the pid namespace. */
  readonly pidNamespace: string;
  readonly pid: number;
  /** Clock ticks since boot at which it started. */
  readonly startTicks: string;
}

let self: Owner | undefined;

/** This process. */
export function ownerOfThisProcess(): Owner {
  self ??= {
    bootId: readOr("/proc/sys/kernel/random/boot_id", hostname()),
    pidNamespace: pidNamespace(),
    pid: process.pid,
    startTicks: startTicksOf(process.pid) ?? "0",
  };
  return self;
}

export function ownerText({ bootId, pidNamespace: namespace, pid, startTicks }: Owner): string {
  return `${bootId}:${namespace}:${pid}:${startTicks}`;
}

export function parseOwner(text: string): Owner | undefined {
  const [, bootId, namespace, pid, startTicks] = /^([^:/]+):(\d+):(\d+):(\d+)$/.exec(text) ?? [];
  if (bootId === undefined || namespace === undefined || pid === undefined || startTicks === undefined) return undefined;
  return { bootId, pidNamespace: namespace, pid: Number(pid), startTicks };
}

/** Only when it cannot be otherwise: another boot, or a pid of our own namespace that is gone or somebody else's by now. */
export function isProvablyDead(owner: Owner): boolean {
  const own = ownerOfThisProcess();
  if (owner.bootId !== own.bootId) return true;
  return owner.pidNamespace === own.pidNamespace && !isAlive(owner.pid, owner.startTicks);
}

/** Whether a process of our own pid namespace is the one that started then. */
export function isAlive(pid: number, startTicks: string): boolean {
  if (ownerOfThisProcess().startTicks !== "0") return startTicksOf(pid) === startTicks;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Undefined when there is no such process, or only its corpse. */
function startTicksOf(pid: number): string | undefined {
  const fields = statFields(pid);
  return fields?.[0] === "Z" || fields?.[0] === "X" ? undefined : fields?.[19];
}

/** /proc/PID/stat from field 3 on: the command's name before it may hold blanks and parentheses. */
export function statFields(pid: number | string): readonly string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}

function pidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0";
  } catch {
    return "0";
  }
}

function readOr(path: string, fallback: string): string {
  try {
    return readFileSync(path, "latin1").trim();
  } catch {
    return fallback;
  }
}
