import { readdir, readFile } from "node:fs/promises";
import { findProgram } from "./packages.js";
import { runCommand } from "./run-command.js";

/** The pids of the processes that hold the accepted end of a TCP connection to that port. Linux only, and as root for the processes of others. */
export async function processesServing(port: number): Promise<readonly number[]> {
  const ss = findProgram("ss");
  if (ss === undefined) throw new Error("ss (Debian: iproute2) is needed to find the processes that serve a connection");
  const { stdout } = await runCommand(ss, ["-H", "-t", "-n", "-p", "state", "connected", "sport", "=", `:${port}`]);
  const pids = [...stdout.matchAll(/pid=(\d+)/g)].map((match) => Number(match[1]));
  return [...new Set(pids)];
}

/** The pids of the processes whose environment (NAME=value, NUL between them) matches. Linux only. */
export async function processesWithEnvironment(pattern: RegExp): Promise<readonly number[]> {
  const found: number[] = [];
  for (const pid of await allPids()) {
    const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
    if (pid !== process.pid && pattern.test(environment)) found.push(pid);
  }
  return found;
}

/** The pids of the processes that have the text in their command line. Linux only. */
export async function processesNaming(text: string): Promise<readonly number[]> {
  const found: number[] = [];
  for (const pid of await allPids()) {
    const commandLine = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    if (pid !== process.pid && commandLine.includes(text)) found.push(pid);
  }
  return found;
}

/** These processes and all their living descendants. Linux only. */
export async function withDescendants(ancestors: readonly number[]): Promise<readonly number[]> {
  const children = new Map<number, number[]>();
  for (const pid of await allPids()) {
    const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
    const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const found = new Set(ancestors);
  // A set that grows while it is walked is walked to its new end.
  for (const pid of found) for (const child of children.get(pid) ?? []) found.add(child);
  return [...found].filter((pid) => pid !== process.pid);
}

/** Signals each process that still is there; returns how many were. */
export function killAll(pids: readonly number[], signal: NodeJS.Signals): number {
  return pids.filter((pid) => {
    try {
      return process.kill(pid, signal);
    } catch {
      return false;
    }
  }).length;
}

async function allPids(): Promise<readonly number[]> {
  const names = await readdir("/proc").catch(() => []);
  return names.filter((name) => /^\d+$/.test(name)).map(Number);
}
