import { lstatSync } from "node:fs";
import { refusal } from "./errors.js";
import { findProgram } from "./programs.js";
import { PROTECTED_PATHS } from "./protected-names.js";
import type { RunRecord } from "./run-record.js";
import type { ShellStart } from "./shell.js";

export const BUBBLEWRAP_ISOLATION =
  "bubblewrap: commands see this machine read-only but for the workspace, have no network, no capabilities, nothing of /tmp and /run, and leave no process behind";

/**
 * Wraps commands in bubblewrap: the machine read-only, the workspace writable, /tmp and /run empty (sockets of daemons are
 * there), no network, no capabilities, a pid namespace of its own. Throws `unsupported` when bubblewrap is missing: never a silent fall-back to no isolation.
 */
export function bubblewrap(
  root: string,
  { directory, spoolDirectory }: RunRecord,
  allowProtected: boolean,
): (start: ShellStart, cwd: string) => ShellStart {
  const program = findProgram("bwrap", root);
  if (program === undefined) {
    throw refusal(
      "unsupported",
      'isolation: "bwrap" needs bubblewrap, and this machine has none. Install it (apt-get install bubblewrap), or open the target without isolation.',
      { details: { option: "isolation" } },
    );
  }
  if (root === "/") {
    throw refusal(
      "invalid_argument",
      'isolation: "bwrap" leaves the root writable, and here that is the whole machine. Open a narrower directory.',
      {
        details: { option: "isolation" },
      },
    );
  }
  return ({ argv, env }, cwd) => {
    const guarded = allowProtected ? [] : PROTECTED_PATHS.map((name) => `${root}/${name}`).filter(isThere);
    const args = [
      ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/run"],
      ...["--bind", root, root],
      ...guarded.flatMap((path) => ["--ro-bind", path, path]),
      ...["--ro-bind-try", directory, directory, "--ro-bind-try", spoolDirectory, spoolDirectory],
      ...["--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--cap-drop", "ALL"],
      ...["--die-with-parent", "--chdir", cwd, "--"],
    ];
    return { argv: [program, ...args, ...argv], argv0: "bwrap", env };
  };
}

/** A symlink cannot be mounted over; what it leads to is guarded under its own name, if at all. */
function isThere(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats !== undefined && !stats.isSymbolicLink();
}
