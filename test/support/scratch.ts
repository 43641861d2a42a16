import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { killAll, processesNaming, withDescendants } from "./processes.js";
import { runCommand } from "./run-command.js";
import { isAlive } from "./run-identity.js";

const prefix = "glovebox-test-";

/** A fresh directory whose name tells the process that made it. A network namespace of the same name goes with it, if there is one. */
export async function makeScratch(): Promise<string> {
  return await mkdtemp(join(tmpdir(), `${prefix}${process.pid}-`));
}

/** Removes a directory of makeScratch(), with the processes started from it, what is mounted in it, and its network namespace. */
export async function removeScratch(directory: string): Promise<void> {
  // They name it in their command lines: an engine's containerd, and the shims whose children are its containers.
  killAll(await withDescendants(await processesNaming(directory)), "SIGKILL");
  const mounts = await readFile("/proc/self/mounts", "utf8").catch(() => "");
  const below = mounts
    .split("\n")
    .map((line) => line.split(" ")[1] ?? "")
    .filter((mount) => mount.startsWith(`${directory}/`));
  for (const mount of below.reverse()) await runCommand("umount", ["--lazy", mount], { allowFailure: true });
  const namespaces: readonly string[] = await readdir("/run/netns").catch(() => []);
  if (namespaces.includes(basename(directory))) await runCommand("ip", ["netns", "delete", basename(directory)], { allowFailure: true });
  await rm(directory, { recursive: true, force: true, maxRetries: 3 });
}

/** Removes what processes left behind that ended without doing so themselves. */
export async function sweepScratch(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = Number(new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1] ?? 0);
    if (pid > 0 && !isAlive(pid)) await removeScratch(join(tmpdir(), name));
  }
}
