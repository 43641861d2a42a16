import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runCommand } from "./run-command.js";
import type { TargetName } from "./targets.js";

/** A Debian package that tests use, and the programs that prove it is there (one of them is enough). */
interface TestPackage {
  readonly name: string;
  readonly programs: readonly string[];
  /** Without it none of the target's tests can run; without the others, the tests that use them cannot. */
  readonly required?: boolean;
}

const packagesOf: Readonly<Record<TargetName, readonly TestPackage[]>> = {
  memory: [
    { name: "git", programs: ["git"] },
    { name: "patch", programs: ["patch"] },
  ],
  local: [
    { name: "acl", programs: ["setfacl"] },
    { name: "attr", programs: ["setfattr"] },
    { name: "bubblewrap", programs: ["bwrap"] },
    { name: "busybox-static", programs: ["busybox"] },
    { name: "dash", programs: ["dash"] },
    { name: "fd-find", programs: ["fdfind", "fd"] },
    { name: "ripgrep", programs: ["rg"] },
    { name: "strace", programs: ["strace"] },
  ],
  docker: [
    { name: "docker.io", programs: ["docker"], required: true },
    { name: "iproute2", programs: ["ip"] },
    { name: "util-linux", programs: ["nsenter"] },
  ],
  ssh: [
    { name: "openssh-server", programs: ["sshd"], required: true },
    { name: "openssh-client", programs: ["ssh-keygen"], required: true },
    { name: "iproute2", programs: ["ss"], required: true },
    { name: "busybox-static", programs: ["busybox"] },
    { name: "dropbear-bin", programs: ["dropbear"] },
    { name: "fish", programs: ["fish"] },
    { name: "ripgrep", programs: ["rg"] },
    { name: "tcsh", programs: ["tcsh"] },
    { name: "tmux", programs: ["tmux"] },
  ],
};

/** Runs the repository's script of that name and returns what it prints; rejects with the last thing it said on stderr. */
export async function runScript(name: string, args: readonly string[] = []): Promise<string> {
  const path = fileURLToPath(new URL(`../../scripts/${name}`, import.meta.url));
  const { exitCode, stdout, stderr } = await runCommand(path, args, { showProgress: true, allowFailure: true });
  if (exitCode !== 0) throw new Error(stderr.trimEnd().split("\n").at(-1) || `${name} ended with ${exitCode}`);
  return stdout.trim();
}

/** Installs what a target's tests use and the machine lacks. Rejects if it cannot, naming what is missing; required tells how bad that is. */
export async function ensurePackages(target: TargetName): Promise<void> {
  const missing = packagesOf[target].filter((each) => !each.programs.some(findProgram));
  if (missing.length === 0) return;
  try {
    await runScript(
      "install-packages.sh",
      missing.map((each) => each.name),
    );
  } catch {
    const names = missing.map((each) => each.name).join(", ");
    throw new MissingPackages(
      `not installed: ${names}`,
      missing.some((each) => each.required === true),
    );
  }
}

export class MissingPackages extends Error {
  readonly required: boolean;
  constructor(message: string, required: boolean) {
    super(message);
    this.required = required;
  }
}

/** The full path of a program, daemons' directories included. */
export function findProgram(name: string): string | undefined {
  const directories = [...(process.env.PATH ?? "").split(":"), "/usr/local/sbin", "/usr/sbin", "/sbin"];
  return directories
    .filter((directory) => directory !== "")
    .map((directory) => join(directory, name))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
