import { GloveboxError } from "../../src/contract/errors.js";
import type { ShellVerbs } from "../../src/contract/operations.js";
import { type Closing, type CommandHost, runCommand } from "./command.js";
import { createPipePool } from "./pipes.js";
import { killRun } from "./processes.js";
import { createWatchdog } from "./watchdog.js";

export interface ExecSettings extends Pick<CommandHost, "cwd" | "shell" | "record" | "env"> {
  readonly wrap: CommandHost["wrap"] | undefined;
}

/** `exec`, and the end of all that it started. */
export function createExec({ wrap, ...settings }: ExecSettings): ShellVerbs & { close(): Promise<void> } {
  const { record, shell } = settings;
  const watchdog = createWatchdog(record);
  const closing: Closing = { listeners: new Set() };
  let host: CommandHost | undefined;

  /** Again, when somebody cleaned up /tmp. */
  const prepare = (): CommandHost => {
    if (record.open() || host === undefined) {
      shell.writeLimits(`${record.directory}/limits`);
      if (wrap !== undefined) record.openSpool();
      const pipes = createPipePool(record.directory);
      host = { ...settings, wrap: wrap ?? ((start) => start), pipes, closing };
    }
    watchdog.watch();
    return host;
  };
  return {
    exec: async (command, options = {}) => await runCommand(prepare(), command, options),
    async close() {
      const error = new GloveboxError("gone", "The environment was closed while the command ran, so it was killed.");
      closing.error = error;
      for (const stop of closing.listeners) stop(error);
      if (host !== undefined) await killRun({ tag: record.prefix });
      watchdog.dismiss();
    },
  };
}
