import { constants } from "node:os";
import { GloveboxError } from "../contract/errors.js";
import type { ExecResult } from "../contract/operations.js";
import { quoteShellWord } from "../text/shell-quote.js";
import { EXIT } from "./exit-codes.js";
import { reportFailure, UsageError, write } from "./output.js";
import { readStandardInput, type TargetOptions, withSession } from "./session.js";

interface ExecCommandOptions extends TargetOptions {
  readonly timeout?: string;
  readonly cwd?: string;
  readonly env?: readonly string[];
  readonly stdin?: boolean;
}

/** `glovebox exec`: raw output, the command's own exit code. */
export async function exec(words: readonly string[], options: ExecCommandOptions): Promise<void> {
  const timeoutMs = timeoutOf(options.timeout);
  const env = environmentOf(options.env ?? []);
  const stdin = options.stdin ? await readStandardInput() : undefined;
  try {
    process.exitCode = await withSession(options, async ({ environment, signal: interruption }) => {
      const timeout = new AbortController();
      const timer = timeoutMs === undefined ? undefined : setTimeout(() => timeout.abort(timedOut(timeoutMs)), timeoutMs);
      try {
        const signal = AbortSignal.any([interruption, timeout.signal]);
        const onOutput = (chunk: Uint8Array, stream: "stdout" | "stderr") => write(process[stream], chunk);
        const { cwd } = options;
        return exitCodeOf(
          await environment.exec(commandLine(words), { signal, onOutput, env, ...(cwd && { cwd }), ...(stdin && { stdin }) }),
        );
      } finally {
        clearTimeout(timer);
      }
    });
  } catch (error) {
    const code = error instanceof GloveboxError ? error.code : undefined;
    process.exitCode = reportFailure(error, code === "timeout" ? EXIT.timeout : code === "aborted" ? EXIT.interrupted : EXIT.failed);
  }
}

/** One word is a shell command line; several are a program and its arguments, each taken literally. */
export function commandLine(words: readonly string[]): string {
  return words.length === 1 ? (words[0] ?? "") : words.map(quoteShellWord).join(" ");
}

export function exitCodeOf({ exitCode, signal }: ExecResult): number {
  if (exitCode !== undefined) return exitCode;
  return 128 + (constants.signals[signal as NodeJS.Signals] ?? constants.signals.SIGKILL);
}

function timedOut(ms: number): GloveboxError {
  return new GloveboxError("timeout", `The command ran longer than ${ms / 1000} s and was killed, with all that it started.`);
}

function timeoutOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = Number(text);
  // setTimeout turns anything above 2^31-1 ms into 1 ms.
  if (!/^\d*\.?\d+$/.test(text) || seconds <= 0 || seconds * 1000 > 2_147_483_647) {
    throw new UsageError(`--timeout takes a number of seconds above 0 and up to 2147483, not ${JSON.stringify(text)}`);
  }
  return seconds * 1000;
}

function environmentOf(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const equals = pair.indexOf("=");
      if (equals <= 0) throw new UsageError(`--env takes NAME=VALUE, not ${JSON.stringify(pair)}`);
      return [pair.slice(0, equals), pair.slice(equals + 1)];
    }),
  );
}
