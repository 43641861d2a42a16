import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

export interface CliOutcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));

/** Runs the command line from its source, as a process of its own. */
export function runCli(
  words: readonly string[],
  options: { readonly stdin?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<CliOutcome> {
  const env = { ...process.env, GLOVEBOX_TARGET: "", ...options.env };
  const child = spawn(process.execPath, ["--import", "tsx", main, ...words], { env });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
  child.stdin.on("error", () => undefined);
  child.stdin.end(options.stdin ?? "");
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() }));
  });
}
