import { Socket } from "node:net";
import type { ExecOptions, OutputStream } from "../../src/contract/operations.js";
import type { InputPipe, OutputPipe } from "./pipes.js";

/** One stream of a command on its way to the caller. */
export interface Output {
  /** Resolves at the end of the pipe: everybody who could write to it is gone. */
  readonly ended: Promise<void>;
  /** True while the caller holds the flow back. */
  isHeldBack(): boolean;
  /** The call has settled: what a background process still writes is thrown away, so that it neither blocks nor dies of it. */
  discard(): void;
  destroy(): void;
}

/**
 * Reads a pipe and hands the chunks on, one at a time: while the caller thinks about one, nothing is taken from the pipe,
 * and the command waits. `fail` is told when the caller throws.
 */
export function openOutput(
  pipe: OutputPipe,
  stream: OutputStream,
  onOutput: ExecOptions["onOutput"],
  fail: (error: unknown) => void,
): Output {
  const socket = new Socket({ fd: pipe.readFd, readable: true, writable: false });
  let heldBack = false;
  let discarding = false;
  let reachedEnd = false;

  const deliver = (chunk: Uint8Array): void => {
    if (discarding) return;
    try {
      const held = onOutput?.(chunk, stream);
      if (held === undefined) return;
      heldBack = true;
      socket.pause();
      void Promise.resolve(held).then(
        () => {
          heldBack = false;
          socket.resume();
        },
        (error: unknown) => fail(error),
      );
    } catch (error) {
      fail(error);
    }
  };

  const ended = new Promise<void>((resolve) => {
    socket.once("end", () => {
      reachedEnd = true;
    });
    socket.once("close", () => {
      pipe.release(reachedEnd);
      resolve();
    });
  });
  socket.on("error", () => socket.destroy());
  socket.on("data", deliver);
  return {
    ended,
    isHeldBack: () => heldBack,
    discard() {
      discarding = true;
      socket.resume();
      socket.unref();
    },
    destroy() {
      discarding = true;
      socket.destroy();
    },
  };
}

/** Feeds a command its input at the pace at which it reads. A command that reads no further is its own business. */
export function openInput({ writeFd }: InputPipe, data: Uint8Array): { destroy(): void } {
  const socket = new Socket({ fd: writeFd, readable: false, writable: true });
  socket.on("error", () => socket.destroy());
  socket.end(data);
  return { destroy: () => socket.destroy() };
}
