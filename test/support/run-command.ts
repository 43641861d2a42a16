import { spawn } from "node:child_process";

export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** What the command writes to stderr also appears on ours: for slow commands that say what they do. */
  readonly showProgress?: boolean;
  readonly allowFailure?: boolean;
}

/** Runs a program of the host; rejects with its stderr if it fails, unless failure is allowed. */
export async function runCommand(program: string, args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  const child = spawn(program, args, { env: { ...process.env, ...options.env }, stdio: ["ignore", "pipe", "pipe"] });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => {
    stderr.push(chunk);
    if (options.showProgress) process.stderr.write(chunk);
  });
  const exitCode = await new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 128));
  });
  const result = { exitCode, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() };
  if (exitCode !== 0 && !options.allowFailure) {
    throw new Error(`${program} ${args.join(" ")} failed with ${exitCode}: ${result.stderr.trim()}`);
  }
  return result;
}
