import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Exec } from "dockerode";
import { abortError, GloveboxError } from "../../src/contract/errors.js";
import type { RemoteProcess, StartOptions, Transport } from "../posix/transport.js";
import { containerId as checkId, inspectContainer, whyNotRunning } from "./containers.js";
import { DEADLINE_MS, type Engine } from "./engine.js";
import { fateOf } from "./exec-fate.js";
import { type ExecProcess, followExec } from "./exec-process.js";
import { checkEngineId } from "./names.js";
import { startThroughGate } from "./start-gate.js";

export interface DockerTransportOptions {
  readonly engine: Engine;
  /** The full id. */
  readonly containerId: string;
  readonly label: string;
  /** Who every process runs as: `uid:gid`, or a name that the container knows. */
  readonly user: string;
  /** How long a start waits for a paused container before it is `busy`. Default 10,000. */
  readonly pausedWaitMs?: number;
}

const PAUSED_WAIT_MS = 10_000;
const PAUSED_LOOK_MS = 100;
/** Linux takes no longer argument; an exec with one ends like a command that failed. */
const MAX_ARGUMENT_BYTES = 128 * 1024;
/** With the kernel's ten probes a second apart, a dead way over TCP is noticed within 18 s. */
const KEEP_ALIVE_MS = 8_000;

/** Starts processes in one running container: an exec each, its connection hijacked. The container must be there; it may be restarted. */
export function dockerTransport(options: DockerTransportOptions): Transport {
  const { engine, label, user, pausedWaitMs = PAUSED_WAIT_MS } = options;
  const containerId = checkId(options.containerId);
  const processes = new Set<ExecProcess>();
  let closed = false;

  async function createExec(argv: readonly string[], signal: AbortSignal | undefined): Promise<Exec> {
    const call = { what: "prepare a process in the container", deadlineMs: DEADLINE_MS.execCreate, signal };
    const exec = await engine.call(call, (docker, abortSignal) =>
      docker.getContainer(containerId).exec({
        Cmd: [...argv],
        User: user,
        WorkingDir: "/",
        AttachStdin: true,
        AttachStdout: true,
        AttachStderr: true,
        Tty: false,
        abortSignal,
      }),
    );
    checkEngineId(exec.id, "an exec");
    return exec;
  }

  async function startOnce(argv: readonly string[], { signal }: StartOptions): Promise<ExecProcess> {
    const { id: execId } = await createExec(argv, signal);
    const call = { what: "start the process in the container", deadlineMs: DEADLINE_MS.execStart, signal };
    const socket = await engine.call(call, (docker, abortSignal) => hijack(docker.getExec(execId), abortSignal));
    const fate = fateOf({ engine, containerId, execId, program: argv[0] ?? "" });
    const process = followExec(socket, fate);
    processes.add(process);
    void process.outcome.finally(() => processes.delete(process));
    if (closed) process.abandon();
    return process;
  }

  async function start(argv: readonly string[], startOptions: StartOptions): Promise<RemoteProcess> {
    checkArguments(argv);
    const { signal } = startOptions;
    const deadline = performance.now() + pausedWaitMs;
    for (;;) {
      if (closed) throw new GloveboxError("gone", `The connection to ${label} is closed. Open a new one.`, { retrySafe: true });
      if (signal?.aborted) throw abortError(signal, { retrySafe: true });
      try {
        return await startThroughGate(containerId, () => startOnce(argv, startOptions));
      } catch (error) {
        if (!(error instanceof GloveboxError)) throw error;
        if (error.code === "gone") throw await explained(error);
        if (error.code !== "busy" || performance.now() >= deadline) throw error;
      }
      await pause(PAUSED_LOOK_MS);
    }
  }

  /** The engine says only that the container does not run; why it does not helps more. */
  async function explained(error: GloveboxError): Promise<GloveboxError> {
    const found = await inspectContainer(engine, containerId).catch(() => undefined);
    return (found && whyNotRunning(found)) ?? error;
  }

  return {
    id: `docker:${containerId}`,
    label,
    start,
    async close() {
      closed = true;
      for (const process of processes) process.abandon();
    },
  };
}

function hijack(exec: Exec, abortSignal: AbortSignal): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    exec.start({ hijack: true, stdin: true, Detach: false, Tty: false, abortSignal }, (error: unknown, stream?: Duplex) => {
      if (stream === undefined || stream === null) {
        reject(error);
        return;
      }
      // Before anything else: an error that nobody listens for would end this process.
      stream.on("error", () => undefined);
      if ("req" in stream || abortSignal.aborted) {
        stream.destroy();
        const message =
          "The Docker engine, or a proxy before it, does not hand over the connection of a process. Connect to the engine directly.";
        reject(new GloveboxError("unsupported", message));
        return;
      }
      (stream as Partial<Socket>).setKeepAlive?.(true, KEEP_ALIVE_MS);
      resolve(stream);
    });
  });
}

function checkArguments(argv: readonly string[]): void {
  if (argv.length === 0 || argv[0] === "") throw new GloveboxError("invalid_argument", "There is no program to start.");
  for (const argument of argv) {
    if (argument.includes("\0"))
      throw new GloveboxError("invalid_argument", "An argument of a command cannot hold NUL. Pass such data on stdin.");
    if (Buffer.byteLength(argument) >= MAX_ARGUMENT_BYTES) {
      throw new GloveboxError(
        "invalid_argument",
        "An argument of a command must be shorter than 128 KiB. Pass long data on stdin or in a file.",
      );
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
