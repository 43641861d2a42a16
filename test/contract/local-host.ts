import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Environment } from "../../src/contract/target.js";
import { type ContractHost, hostOverExec } from "../../src/testing/index.js";

/** The shell of this machine sets the scene; where this account may mount, a small disk is to be had too. */
export function localHost(environment: Environment): ContractHost {
  const host = hostOverExec(environment);
  if (!canMount()) return host;
  return {
    ...host,
    async smallDisk() {
      const directory = join(environment.root ?? environment.cwd, "small-disk");
      mkdirSync(directory, { recursive: true });
      mount(directory);
      return {
        directory,
        async release() {
          execFileSync("umount", [directory]);
          rmSync(directory, { recursive: true });
        },
      };
    },
  };
}

let mayMount: boolean | undefined;

function canMount(): boolean {
  if (mayMount !== undefined) return mayMount;
  const probe = mkdtempSync(join(tmpdir(), "glovebox-mount-"));
  try {
    mount(probe);
    execFileSync("umount", [probe]);
    mayMount = true;
  } catch {
    mayMount = false;
  }
  rmSync(probe, { recursive: true, force: true });
  return mayMount;
}

function mount(directory: string): void {
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m,mode=777", "tmpfs", directory], { stdio: "ignore" });
}
