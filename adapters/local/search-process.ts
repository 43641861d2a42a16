import { spawn } from "node:child_process";
import { abortError } from "../../src/contract/errors.js";
import { refusal } from "./errors.js";

export interface SearchProcess {
  readonly program: string;
  readonly args: readonly string[];
  /** Where it runs: reaches the search root whatever becomes of its name. */
  readonly cwd: string;
  /** Takes bytes of its output; false when no more are wanted. A throw ends the search and is passed on. */
  onBytes(chunk: Buffer): boolean;
  readonly signal?: AbortSignal;
}

export interface SearchEnd {
  /** Undefined when it was stopped since nothing more was wanted. */
  readonly exitCode: number | undefined;
  /** The beginning of what it complained about. */
  readonly complaints: string;
  /** Lines of complaint. */
  readonly complained: number;
}

const MAX_COMPLAINTS = 64 * 1024;

/** Runs a search tool with nothing of our environment. Settles only when it is dead. Rejects `aborted`, `timeout`, `unsupported`. */
export function runSearch({ program, args, cwd, onBytes, signal }: SearchProcess): Promise<SearchEnd> {
  return new Promise((resolve, reject) => {
    const env = { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C.UTF-8" };
    const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
    let failure: unknown;
    let enough = false;
    let complaints = "";
    let complained = 0;
    const stop = (): void => {
      child.kill("SIGKILL");
    };
    const abort = (): void => {
      failure ??= abortError(signal as AbortSignal, { retrySafe: true });
      stop();
    };
    signal?.addEventListener("abort", abort, { once: true });
    child.stdout.on("data", (chunk: Buffer) => {
      if (enough || failure !== undefined) return;
      try {
        enough = !onBytes(chunk);
      } catch (error) {
        failure = error;
      }
      if (enough || failure !== undefined) stop();
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      complained += text.split("\n").length - 1;
      if (complaints.length < MAX_COMPLAINTS) complaints += text;
    });
    child.on("error", (cause) => {
      failure ??= refusal("unsupported", `${program} did not start: ${cause.message}. See that it can be run.`, { cause });
      if (child.pid === undefined) settle(null);
    });
    child.on("close", (exitCode) => settle(exitCode));
    if (signal?.aborted) abort();

    function settle(exitCode: number | null): void {
      signal?.removeEventListener("abort", abort);
      if (failure !== undefined) reject(failure);
      else resolve({ exitCode: enough ? undefined : (exitCode ?? -1), complaints, complained });
    }
  });
}
