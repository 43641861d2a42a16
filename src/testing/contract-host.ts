import { GloveboxError } from "../contract/errors.js";
import type { Environment } from "../contract/target.js";
import { runCommand } from "./run-command.js";

/** Sets the scene on the target, past the verbs. Paths are absolute; nothing is confined. */
export interface ContractHost {
  /** Parents are made too. */
  mkdir(path: string): Promise<void>;
  /** `target` is written as given. */
  symlink(target: string, path: string): Promise<void>;
  /** A second name for an existing file. */
  link(existing: string, path: string): Promise<void>;
  chmod(path: string, mode: number): Promise<void>;
  fifo(path: string): Promise<void>;
  /** Removes it and all below it; nothing there is fine. */
  remove(path: string): Promise<void>;
  /** A directory with less than 4 MiB of room, where the target can offer one; `release` gives it back. */
  smallDisk?(): Promise<{ readonly directory: string; release(): Promise<void> }>;
}

/** The host of a target with processes: the shell's own commands. Paths travel as variables, never inside a command. */
export function hostOverExec(environment: Environment): ContractHost {
  const run = async (command: string, env: Readonly<Record<string, string>>): Promise<void> => {
    const { exitCode, stderr } = await runCommand(environment, command, { env });
    if (exitCode !== 0) {
      throw new GloveboxError("unexpected", `The scene could not be set: ${command} ended with ${exitCode}: ${stderr}`);
    }
  };
  return {
    mkdir: (path) => run('mkdir -p -- "$AT"', { AT: path }),
    symlink: (target, path) => run('ln -s -- "$TO" "$AT"', { TO: target, AT: path }),
    link: (existing, path) => run('ln -- "$TO" "$AT"', { TO: existing, AT: path }),
    chmod: (path, mode) => run('chmod "$MODE" "$AT"', { MODE: mode.toString(8).padStart(4, "0"), AT: path }),
    fifo: (path) => run('mkfifo -- "$AT"', { AT: path }),
    remove: (path) => run('rm -rf -- "$AT"', { AT: path }),
  };
}

/** The host of a target on which nothing can be prepared: cases that need it do not apply. */
export const noHost: ContractHost = {
  mkdir: refuse,
  symlink: refuse,
  link: refuse,
  chmod: refuse,
  fifo: refuse,
  remove: async () => {},
};

async function refuse(): Promise<never> {
  throw new GloveboxError("unsupported", "Nothing can set the scene on this target: give runContract a host.");
}
