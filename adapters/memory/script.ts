import { abortError, GloveboxError } from "../../src/contract/errors.js";
import type { ExecOptions, ExecResult, OutputStream } from "../../src/contract/operations.js";
import type { MemoryDisk } from "./files.js";
import { pause } from "./journal.js";

/** What a scripted command comes to. */
export interface ScriptedResult extends ExecResult {
  readonly stdout?: string | Uint8Array;
  readonly stderr?: string | Uint8Array;
  /** How long it runs before it ends; its output comes first. `Infinity`: until it is aborted. */
  readonly delayMs?: number;
}

/** A command on its way to a script. */
export interface ScriptedCall {
  readonly command: string;
  /** Absolute. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: Uint8Array;
  readonly signal?: AbortSignal;
  /** The file system, so that a scripted build can leave its files. */
  readonly disk: MemoryDisk;
}

export type CommandScript = (call: ScriptedCall) => ScriptedResult | Promise<ScriptedResult>;

/** Commands by their exact text, or one function for all. A command that is not in a table ends with exit code 127. */
export type Commands = Readonly<Record<string, ScriptedResult | CommandScript>> | CommandScript;

export interface CommandRunner {
  run(command: string, options: ExecOptions & { readonly cwd: string }): Promise<ExecResult>;
  close(): Promise<void>;
}

export function createScript(commands: Commands, disk: MemoryDisk): CommandRunner {
  function scriptOf(command: string): CommandScript {
    if (typeof commands === "function") return commands;
    const found = Object.hasOwn(commands, command) ? commands[command] : undefined;
    if (found === undefined) return () => ({ stderr: `${command}: no such command in this memory environment's script\n`, exitCode: 127 });
    return typeof found === "function" ? found : () => found;
  }
  return {
    async run(command, { cwd, env = {}, stdin, signal, onOutput }) {
      const call: ScriptedCall = { command, cwd, env, stdin: new Uint8Array(stdin ?? []), signal, disk };
      const { stdout, stderr, delayMs = 0, ...result } = await untilAborted(async () => await scriptOf(command)(call), signal);
      await deliver(onOutput, stdout, "stdout");
      await deliver(onOutput, stderr, "stderr");
      if (delayMs > 0) await pause(delayMs, signal);
      return result.exitCode === undefined && result.signal === undefined ? { ...result, exitCode: 0 } : result;
    },
    close: async () => {},
  };
}

/** Hands output to the caller as exec must: bytes of its own, one at a time, a throw rejects the call. */
export async function deliver(
  onOutput: ExecOptions["onOutput"],
  output: string | Uint8Array | undefined,
  stream: OutputStream,
): Promise<void> {
  if (output === undefined || output.length === 0) return;
  await onOutput?.(typeof output === "string" ? new TextEncoder().encode(output) : output.slice(), stream);
}

/** A script's function is a test's own code and may never settle: an abort does not wait for it. */
function untilAborted<Result>(run: () => Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(abortError(signal as AbortSignal));
    signal?.addEventListener("abort", leave, { once: true });
    run()
      .then(resolve, (error: unknown) => {
        reject(
          error instanceof GloveboxError ? error : new GloveboxError("unexpected", "The script of this command threw.", { cause: error }),
        );
      })
      .finally(() => signal?.removeEventListener("abort", leave));
  });
}
