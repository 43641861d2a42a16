import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { abortError, GloveboxError } from "../../src/contract/errors.js";
import type { ExecOptions, ExecResult } from "../../src/contract/operations.js";
import type { FileSystem } from "./file-system.js";
import type { MemoryDisk } from "./files.js";
import { applyChanges, type ImageChanges, imageOf } from "./image.js";
import { type CommandRunner, deliver } from "./script.js";
import { SHELL_WORKER } from "./shell-worker.js";

type Answer = { readonly error: string } | (ImageChanges & { readonly stdout: string; readonly stderr: string; readonly exitCode: number });

/** A command that wants more dies alone. */
const MAX_HEAP_MB = 512;

/**
 * Commands run by just-bash, each in a worker thread with a copy of the files; what a command changed is taken over when it
 * ends. An abort kills the thread, and then nothing that the command did is kept. Output comes when the command has ended.
 */
export function createShell(files: FileSystem, disk: MemoryDisk, home: string): CommandRunner {
  const idle: Worker[] = [];
  const module = locate();

  function start(): Worker {
    const worker = new Worker(SHELL_WORKER, {
      eval: true,
      workerData: { module },
      // Nothing of this process shows through.
      env: {},
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    });
    worker.on("error", () => {});
    worker.on("exit", () => {
      const place = idle.indexOf(worker);
      if (place !== -1) idle.splice(place, 1);
    });
    return worker;
  }

  function ask(worker: Worker, request: object, signal: AbortSignal | undefined): Promise<Answer> {
    return new Promise((resolve, reject) => {
      let failure: Error | undefined;
      const kill = (): void => void worker.terminate();
      const failed = (error: Error): void => {
        failure = error;
      };
      const leave = (): void => {
        worker.off("message", answered).off("error", failed).off("exit", ended);
        signal?.removeEventListener("abort", kill);
        worker.unref();
      };
      const answered = (answer: Answer): void => {
        leave();
        resolve(answer);
      };
      // Only the thread's end settles an aborted command: it is gone then.
      const ended = (): void => {
        leave();
        reject(signal?.aborted ? abortError(signal) : workerError(failure));
      };
      worker.on("message", answered).on("error", failed).on("exit", ended);
      worker.ref();
      signal?.addEventListener("abort", kill, { once: true });
      worker.postMessage(request);
    });
  }

  async function run(command: string, { cwd, env, stdin, signal, onOutput }: ExecOptions & { readonly cwd: string }): Promise<ExecResult> {
    const worker = idle.pop() ?? start();
    const image = imageOf(files.root);
    const answer = await ask(
      worker,
      { command, cwd, env: { HOME: home, USER: "user", ...env }, stdin: new Uint8Array(stdin ?? []), image },
      signal,
    );
    if (!signal?.aborted) idle.push(worker);
    if ("error" in answer) throw new GloveboxError("unexpected", `just-bash failed: ${answer.error}. Try a simpler command.`);
    const { stdout, stderr, exitCode } = answer;
    await deliver(onOutput, stdout, "stdout");
    await deliver(onOutput, stderr, "stderr");
    try {
      applyChanges(files, disk, answer);
      return { exitCode };
    } catch (error) {
      if (!(error instanceof GloveboxError) || error.code !== "no_space") throw error;
      await deliver(onOutput, "No space left in memory: nothing that this command changed was kept.\n", "stderr");
      return { exitCode: 1 };
    }
  }

  return {
    run,
    async close() {
      await Promise.all(idle.splice(0).map((worker) => worker.terminate()));
    },
  };
}

function locate(): string {
  try {
    return createRequire(import.meta.url).resolve("just-bash");
  } catch (error) {
    throw new GloveboxError(
      "unsupported",
      "The shell just-bash is not installed. Run npm install just-bash, or leave the option shell out.",
      {
        details: { option: "shell" },
        cause: error,
      },
    );
  }
}

function workerError(error: Error | undefined): GloveboxError {
  if ((error as { readonly code?: string } | undefined)?.code === "ERR_WORKER_OUT_OF_MEMORY") {
    return new GloveboxError("out_of_memory", `The command needed more than ${MAX_HEAP_MB} MB; nothing that it changed was kept.`, {
      cause: error,
    });
  }
  return new GloveboxError("unknown_outcome", "The thread of the command ended before the command did. Nothing that it changed was kept.", {
    cause: error,
  });
}
