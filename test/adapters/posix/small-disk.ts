import { execFileSync } from "node:child_process";
import { mkdtempSync, rmdirSync } from "node:fs";
import type { Environment } from "../../../src/contract/target.js";
import { type ContractHost, hostOverExec } from "../../../src/testing/contract-host.js";

/** A tmpfs of so many bytes. Needs root. */
export function mountSmallDisk(size: string): { readonly directory: string; release(): void } {
  const directory = mkdtempSync("/tmp/glovebox-disk-");
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", directory]);
  return {
    directory,
    release() {
      execFileSync("umount", ["-l", directory]);
      rmdirSync(directory);
    },
  };
}

/** The shell's host, with a small disk of this machine's. */
export function smallDiskHost(environment: Environment): ContractHost {
  return {
    ...hostOverExec(environment),
    async smallDisk() {
      const { directory, release } = mountSmallDisk("3m");
      return { directory, release: async () => release() };
    },
  };
}
