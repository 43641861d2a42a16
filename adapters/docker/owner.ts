import { randomUUID } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import type { Maker } from "../../src/contract/target.js";
import { RESERVED_LABEL } from "./names.js";

/** Labels of what this adapter makes. They hold facts that do not change; nothing of the user's is ever in them. */
export const LABEL = {
  /** The run of Glovebox that made it. */
  instance: `${RESERVED_LABEL}instance`,
  /** The process that made it: host, boot id, pid namespace, pid and start time, with colons between. */
  owner: `${RESERVED_LABEL}owner`,
  /** The container's host name too: a copy (docker commit, then run) has the label, but another host name. */
  id: `${RESERVED_LABEL}id`,
  /** "session": it ends with its connection. "provisioned": it outlives the process; the fleet looks after it. */
  kind: `${RESERVED_LABEL}kind`,
  /** The image's name as it was asked for; the container itself is made from the id it had then. */
  image: `${RESERVED_LABEL}image`,
  /** Where the workspace is. */
  workspace: `${RESERVED_LABEL}workspace`,
} as const;

export type Kind = "session" | "provisioned";

const INSTANCE = randomUUID();
let self: string | undefined;

/** The labels that say whose it is. */
export function ownerLabels(kind: Kind): Readonly<Record<string, string>> {
  self ??= describeProcess(process.pid);
  return { [LABEL.instance]: INSTANCE, [LABEL.owner]: self, [LABEL.kind]: kind };
}

/** Whether this very process made it. */
export function isOurs(labels: Readonly<Record<string, string>>): boolean {
  return labels[LABEL.instance] === INSTANCE;
}

/** Whose it is, by its labels. */
export function makerOf(labels: Readonly<Record<string, string>> | null | undefined): Maker {
  if (labels?.[LABEL.owner] === ownerLabels("provisioned")[LABEL.owner]) return "self";
  return isOwnerDead(labels?.[LABEL.owner]) ? "dead" : "other";
}

/**
 * True only where it can be proven from here: the owner ran on this host, in this boot and pid namespace, and its pid is gone
 * or belongs to a process that started at another time. Where there is no /proc nothing is proven.
 */
export function isOwnerDead(owner: string | undefined): boolean {
  const parts = (owner ?? "").split(":");
  if (parts.length !== 5 || parts.some((part) => part === "" || part === "-")) return false;
  const [host, boot, namespace, pid = "", started] = parts;
  if (host !== hostname() || boot !== bootId() || namespace !== pidNamespace()) return false;
  if (!/^[1-9]\d{0,9}$/.test(pid)) return false;
  if (!exists(Number(pid))) return true;
  const now = startTime(Number(pid));
  return now !== "-" && now !== started;
}

function describeProcess(pid: number): string {
  return [hostname(), bootId(), pidNamespace(), pid, startTime(pid)].join(":");
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: another user's process, which is one all the same.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

function bootId(): string {
  return attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim());
}

function pidNamespace(): string {
  return attempt(() => /^pid:\[(\d+)\]$/.exec(readlinkSync("/proc/self/ns/pid"))?.[1]);
}

/** In clock ticks since the boot. "-" where it cannot be read. */
function startTime(pid: number): string {
  return attempt(() => {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The second field is the program's name in parentheses, and may hold blanks and parentheses itself.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  });
}

function attempt(read: () => string | undefined): string {
  try {
    return read() ?? "-";
  } catch {
    return "-";
  }
}
