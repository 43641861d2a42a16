import { execFile } from "node:child_process";
import { closeSync, constants, openSync, rmSync } from "node:fs";
import { GloveboxError } from "../../src/contract/errors.js";

/** A pipe that a command writes to. */
export interface OutputPipe {
  /** Our end: does not block. */
  readonly readFd: number;
  /** The command's end. Close it once the command has it. */
  readonly writeFd: number;
  /** Once our end was read to its end the pipe can serve again; with a writer left it cannot. */
  release(reusable: boolean): void;
}

/** A pipe that a command reads from. It has no name any more. */
export interface InputPipe {
  /** The command's end. Close it once the command has it. */
  readonly readFd: number;
  /** Our end: does not block. */
  readonly writeFd: number;
}

export interface PipePool {
  takeOutput(): Promise<OutputPipe>;
  takeInput(): Promise<InputPipe>;
}

const BATCH = 16;

/**
 * Named pipes, made in batches. What Node makes by itself is a socket, which a command cannot open again by name: `echo x
 * >/dev/stderr` would fail.
 */
export function createPipePool(directory: string): PipePool {
  const free: string[] = [];
  let making: Promise<void> | undefined;
  let count = 0;

  const make = async (): Promise<void> => {
    const names = Array.from({ length: BATCH }, () => {
      count += 1;
      return `${directory}/pipe-${count}`;
    });
    await makePipes(names);
    free.push(...names);
  };

  const take = async (): Promise<string> => {
    for (;;) {
      const path = free.pop();
      if (path !== undefined) return path;
      making ??= make().finally(() => {
        making = undefined;
      });
      await making;
    }
  };

  return {
    async takeOutput() {
      const path = await take();
      const readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
      const writeFd = openSync(path, constants.O_WRONLY);
      return { readFd, writeFd, release: (reusable) => (reusable ? free.push(path) : rmSync(path, { force: true })) };
    },
    async takeInput() {
      const path = await take();
      // A pipe opens without blocking only when the other end is open already.
      const opener = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
      const writeFd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
      const readFd = openSync(path, constants.O_RDONLY);
      closeSync(opener);
      rmSync(path);
      return { readFd, writeFd };
    },
  };
}

function makePipes(paths: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile("mkfifo", ["-m", "600", "--", ...paths], { timeout: 10_000, env: { PATH: "/usr/local/bin:/usr/bin:/bin" } }, (cause) => {
      if (cause === null) return resolve();
      const message = "Making pipes for commands with mkfifo failed. Install coreutils, and see that /tmp can be written.";
      reject(new GloveboxError("not_started", message, { retrySafe: true, cause }));
    });
  });
}
