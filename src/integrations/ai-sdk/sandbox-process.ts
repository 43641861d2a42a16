import { constants } from "node:os";
import { type Environment, type ExecResult, GloveboxError, type OutputStream } from "../../index.js";
import type { AiSdkCommandOptions, AiSdkProcess } from "./sandbox-types.js";

/** What a stream holds that nobody reads. Beyond it the command waits: its output is not dropped, nor kept without bound. */
const MAX_UNREAD_BYTES = 1024 * 1024;
/** What SIGTERM, which kill() begins with, makes a shell report. */
const KILLED_EXIT_CODE = 143;

/** A command as a process with a handle: it runs already, its output streams, and `wait` says how it ended. */
export function startProcess(environment: Pick<Environment, "exec">, options: AiSdkCommandOptions): AiSdkProcess {
  const { command, workingDirectory: cwd, env, abortSignal } = options;
  const killing = new AbortController();
  const pipes = { stdout: createPipe(killing.signal), stderr: createPipe(killing.signal) } as const;
  const abort = (): void => killing.abort(abortSignal?.reason);
  if (abortSignal?.aborted) abort();
  else abortSignal?.addEventListener("abort", abort, { once: true });

  const ended = environment
    .exec(command, { cwd, env, signal: killing.signal, onOutput: (chunk, stream: OutputStream) => pipes[stream].write(chunk) })
    .finally(() => abortSignal?.removeEventListener("abort", abort))
    .then(
      (result) => {
        for (const pipe of [pipes.stdout, pipes.stderr]) pipe.end();
        return { exitCode: exitCodeOf(result) };
      },
      (error: unknown) => {
        const stopped = killing.signal.aborted && error instanceof GloveboxError && error.code !== "unknown_outcome";
        const killed = stopped && abortSignal?.aborted !== true;
        const reason: unknown = stopped && !killed ? abortSignal?.reason : error;
        for (const pipe of [pipes.stdout, pipes.stderr]) pipe.end(killed ? undefined : { reason });
        if (killed) return { exitCode: KILLED_EXIT_CODE };
        throw reason;
      },
    );
  // Whoever does not wait does not want to know.
  ended.catch(() => undefined);

  return {
    stdout: pipes.stdout.stream,
    stderr: pipes.stderr.stream,
    wait: () => ended,
    async kill() {
      killing.abort();
      await ended.catch(() => undefined);
    },
  };
}

/** The command's own code, or 128 and the number of the signal that ended it, as shells count. */
export function exitCodeOf({ exitCode, signal = "" }: ExecResult): number {
  return exitCode ?? 128 + ((constants.signals as Readonly<Record<string, number | undefined>>)[signal] ?? 0);
}

interface Pipe {
  readonly stream: ReadableStream<Uint8Array>;
  /** Resolves when more may come. */
  write(chunk: Uint8Array): void | Promise<void>;
  end(failure?: { readonly reason: unknown }): void;
}

function createPipe(killed: AbortSignal): Pipe {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let wake: (() => void) | undefined;
  let open = true;
  const resume = (): void => {
    wake?.();
    wake = undefined;
  };
  // A command that is held back must be let go, so that it can be told to end.
  killed.addEventListener("abort", resume, { once: true });
  const stream = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given;
      },
      pull: resume,
      cancel() {
        open = false;
        resume();
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: MAX_UNREAD_BYTES }),
  );
  return {
    stream,
    write(chunk) {
      // What a command says on its way down is not kept: nobody can hold it back any more.
      if (!open || killed.aborted || controller === undefined) return undefined;
      controller.enqueue(chunk);
      if ((controller.desiredSize ?? 1) > 0) return undefined;
      return new Promise((resolve) => {
        wake = resolve;
      });
    },
    end(failure) {
      if (!open) return;
      open = false;
      if (failure === undefined) controller?.close();
      else controller?.error(failure.reason);
    },
  };
}
