import type { ExecOptions, ExecResult } from "../contract/operations.js";
import type { Environment } from "../contract/target.js";

export interface CommandOutput extends ExecResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutBytes: Uint8Array;
}

/** Runs a command and keeps all of its output. Rejects as `exec` does. */
export async function runCommand(
  environment: Pick<Environment, "exec">,
  command: string,
  options: Omit<ExecOptions, "onOutput"> = {},
): Promise<CommandOutput> {
  const kept: Record<"stdout" | "stderr", Uint8Array[]> = { stdout: [], stderr: [] };
  const result = await environment.exec(command, {
    ...options,
    onOutput(chunk, stream) {
      kept[stream].push(chunk);
    },
  });
  const stdoutBytes = Buffer.concat(kept.stdout);
  return { ...result, stdoutBytes, stdout: stdoutBytes.toString("utf8"), stderr: Buffer.concat(kept.stderr).toString("utf8") };
}
