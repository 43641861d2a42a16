import { readdir, readFile } from "node:fs/promises";

/** Ends what contract cases left running on this machine: for adapters that are known to leave something. */
export async function killTagged(): Promise<void> {
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
    if (!/(^|\0)CONTRACT_TAG=/.test(environment)) continue;
    try {
      process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }
}
