import { writeFileSync } from "node:fs";
import { findProgram } from "./programs.js";

/** What a command may use at most. */
export interface CommandLimits {
  readonly openFiles: number;
  /** The largest file it may write, in bytes. */
  readonly fileBytes: number;
}

/** How a command is started. */
export interface Shell {
  readonly name: "bash" | "sh";
  /** `limitsFile` was written by `writeLimits`. */
  start(command: string, limitsFile: string): ShellStart;
  /** A script too long for an argument, from its file. */
  startScript(file: string, limitsFile: string): ShellStart;
  writeLimits(file: string): void;
}

export interface ShellStart {
  readonly argv: readonly [program: string, ...args: string[]];
  readonly argv0: string;
  readonly env: Readonly<Record<string, string>>;
}

/** bash where there is one, else sh. */
export function findShell(root: string, limits: CommandLimits): Shell {
  const bash = findProgram("bash", root);
  return bash === undefined ? plainShell(findProgram("sh", root) ?? "/bin/sh", limits) : bashShell(bash, limits);
}

/* bash reads BASH_ENV before a command: limits cost no further program, and the command stays what `bash -c` was given. */
function bashShell(bash: string, { openFiles, fileBytes }: CommandLimits): Shell {
  const start = (args: readonly string[], limitsFile: string): ShellStart => ({
    argv: [bash, ...args],
    argv0: "bash",
    env: { BASH_ENV: limitsFile },
  });
  return {
    name: "bash",
    start: (command, limitsFile) => start(["-c", command], limitsFile),
    startScript: (file, limitsFile) => start([file], limitsFile),
    writeLimits(file) {
      // Descriptors that our own process was started with would be passed on.
      const script = `unset BASH_ENV
for glovebox in /proc/$$/fd/*; do
  glovebox=\${glovebox##*/}
  case $glovebox in [3-9] | [1-9][0-9]*) eval "exec $glovebox>&-" ;; esac
done
unset glovebox
ulimit -c 0 2>/dev/null
ulimit -n ${openFiles} 2>/dev/null
${Number.isFinite(fileBytes) ? `ulimit -f ${Math.ceil(fileBytes / 1024)} 2>/dev/null` : ""}
:
`;
      writeFileSync(file, script, { mode: 0o600 });
    },
  };
}

function plainShell(sh: string, { openFiles, fileBytes }: CommandLimits): Shell {
  const limits = [
    "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-",
    "ulimit -c 0 2>/dev/null",
    `ulimit -n ${openFiles} 2>/dev/null`,
    ...(Number.isFinite(fileBytes) ? [`ulimit -f ${Math.ceil(fileBytes / 512)} 2>/dev/null`] : []),
  ].join("; ");
  return {
    name: "sh",
    start: (command) => ({ argv: [sh, "-c", `${limits}; exec "$0" -c "$1"`, sh, command], argv0: "sh", env: {} }),
    startScript: (file) => ({ argv: [sh, "-c", `${limits}; exec "$0" "$1"`, sh, file], argv0: "sh", env: {} }),
    writeLimits() {},
  };
}
