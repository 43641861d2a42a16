import { readFileSync } from "node:fs";
import { hostname } from "node:os";

/** Every container, volume and network that a test makes bears this label; its value is the run that made it. */
export const testLabel = "dev.glovebox.test";

const variable = "GLOVEBOX_TEST_RUN";

/** Names this process and its children as one run: host, pid and start time, so that a pid used again is another run. */
export function claimRun(): string {
  const run = `${hostname()}:${process.pid}:${startTime(process.pid) ?? 0}`;
  process.env[variable] = run;
  return run;
}

/** The label of the present run. */
export function currentRun(): string {
  return process.env[variable] ?? claimRun();
}

/** False only if the run's process is provably gone; a run on another machine cannot be judged from here. */
export function mayBeRunning(run: string): boolean {
  const [host, pid, time] = run.split(":");
  if (host !== hostname()) return true;
  return isAlive(Number(pid), time);
}

/**
 * Whether that pid is in use, by the process that started at that time (in clock ticks since boot, as in /proc/PID/stat)
 * if one is given that is known.
 */
export function isAlive(pid: number, time?: string): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  const now = startTime(pid);
  if (now !== undefined) return time === undefined || time === "0" || now === time;
  if (process.platform === "linux") return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Undefined where there is no /proc, or no such process. */
export function startTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The second field is the program's name in parentheses, and may hold blanks and parentheses itself.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}
