import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import type { ProcessOutcome, RemoteProcess, Transport } from "../../../adapters/posix/transport.js";
import { GloveboxError } from "../../../src/contract/errors.js";

export interface LocalTransport extends Transport {
  /** What was started, in order, with its purpose. */
  readonly started: readonly { readonly pid: number; readonly purpose: string; readonly process: ChildProcess }[];
  /** All pipes close at once without a word and none are opened again: our process was killed, or the link was cut for good. */
  sever(): void;
}

export interface LocalTransportOptions {
  readonly id?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Another user to be, when root. */
  readonly uid?: number;
  readonly gid?: number;
  /** Before the argv: `["nsenter", …]`. */
  readonly prefix?: readonly string[];
}

/** Processes of this machine, each in a session of its own, as Docker and sshd start them. */
export function localTransport({
  id = `local-${randomUUID()}`,
  env = process.env,
  cwd,
  uid,
  gid,
  prefix = [],
}: LocalTransportOptions = {}): LocalTransport {
  const started: { pid: number; purpose: string; process: ChildProcess }[] = [];
  let severed = false;
  const letGo = (): void => {
    for (const { process } of started) for (const stream of [process.stdin, process.stdout, process.stderr]) stream?.destroy();
  };
  return {
    id,
    label: "test:local",
    started,
    start: (argv, { purpose }) =>
      new Promise((resolve, reject) => {
        if (severed) return reject(new GloveboxError("disconnected", "The link is cut.", { retrySafe: true }));
        const [program = "", ...words] = [...prefix, ...argv];
        const child = spawn(program, words, { stdio: "pipe", detached: true, env, cwd, uid, gid });
        child.once("error", (cause) =>
          reject(new GloveboxError("not_started", `${program} could not be started.`, { retrySafe: true, cause })),
        );
        child.once("spawn", () => {
          started.push({ pid: child.pid ?? 0, purpose, process: child });
          resolve(remoteProcess(child));
        });
      }),
    sever() {
      severed = true;
      letGo();
    },
    async close() {
      letGo();
    },
  };
}

function remoteProcess(child: ChildProcess): RemoteProcess {
  const { stdin, stdout, stderr } = child;
  if (!stdin || !stdout || !stderr) throw new Error("no pipes");
  for (const stream of [stdin, stdout, stderr]) stream.on("error", () => undefined);
  return {
    stdin,
    stdout,
    stderr,
    outcome: new Promise<ProcessOutcome>((resolve) => {
      child.once("exit", (exitCode, signal) =>
        resolve(signal === null ? { kind: "exited", exitCode: exitCode ?? 0 } : { kind: "signalled", signal }),
      );
    }),
    destroy() {
      for (const stream of [stdin, stdout, stderr]) stream.destroy();
    },
  };
}

/** The number of a signal's name, for tests that kill. */
