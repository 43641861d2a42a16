import type { ContainerInspectInfo } from "dockerode";
import { GloveboxError } from "../../src/contract/errors.js";
import type { ProcessOutcome } from "../posix/transport.js";
import { inspectContainer, whyNotRunning } from "./containers.js";
import { DEADLINE_MS, type Engine } from "./engine.js";

/** What the engine's record of an exec says. */
export type ExecState =
  /** Not ended. It has a pid once it was started. */
  | { readonly kind: "running"; readonly pid: number }
  | { readonly kind: "ended"; readonly exitCode: number; readonly pid: number }
  | { readonly kind: "unknown"; readonly error: GloveboxError };

export interface Fate {
  look(): Promise<ExecState>;
  /** How it ended, given that the engine said that it did. `cut`: its output broke off; `report`: why it never started. */
  judge(ended: Extract<ExecState, { kind: "ended" }>, facts: { readonly cut: boolean; readonly report?: string }): Promise<ProcessOutcome>;
  /** Why nobody can say how it ended. */
  lost(cause?: GloveboxError): Promise<ProcessOutcome>;
}

export interface FateOptions {
  readonly engine: Engine;
  readonly containerId: string;
  readonly execId: string;
  readonly program: string;
}

const KILLED = 128 + 9;
const STOP_LOOKS_MS = [0, 30, 120] as const;
/** What the engine says when it is the program, its directory or its user that cannot be. */
const PROGRAM_FAULT = /exec: "|chdir to cwd|unable to find user|no matching entries in passwd/;

/** Asks the engine what became of one exec. Nothing here rejects. */
export function fateOf({ engine, containerId, execId, program }: FateOptions): Fate {
  async function look(): Promise<ExecState> {
    try {
      const call = { what: "look up the process", deadlineMs: DEADLINE_MS.inspect, readOnly: true };
      const { Running, ExitCode, Pid } = await engine.call(call, (docker, abortSignal) => docker.getExec(execId).inspect({ abortSignal }));
      return !Running && Number.isInteger(ExitCode)
        ? { kind: "ended", exitCode: Number(ExitCode), pid: Pid }
        : { kind: "running", pid: Pid };
    } catch (error) {
      return { kind: "unknown", error: error as GloveboxError };
    }
  }

  async function container(): Promise<ContainerInspectInfo | GloveboxError> {
    return await inspectContainer(engine, containerId).catch((error: unknown) => error as GloveboxError);
  }

  /** What became of the container, where that explains a process's end. */
  async function containerEnd(): Promise<GloveboxError | undefined> {
    const found = await container();
    if (found instanceof GloveboxError) {
      if (found.code !== "gone") return undefined;
      return new GloveboxError(
        "gone",
        "The container was removed while the process ran: it was killed. Open another one; check what was done so far.",
      );
    }
    const why = whyNotRunning(found);
    if (why === undefined || why.code === "busy") return undefined;
    const { details } = why;
    // The engine sets the flag for any process in the container; only with this exit code can it have been the main one.
    if (found.State.OOMKilled && found.State.ExitCode === KILLED) {
      const message =
        "The container ran out of memory and stopped with everything in it. Start it again with more memory (the option memory), or do less at once.";
      return new GloveboxError("out_of_memory", message, { details });
    }
    const message = `The container stopped while the process ran (it is ${found.State.Status}): the process was killed. Start it again, or open another one.`;
    return new GloveboxError("gone", message, { details });
  }

  /** Looks more than once: a container that stops kills its processes before the engine knows that it stopped. */
  async function containerEndSoon(): Promise<GloveboxError | undefined> {
    for (const waitMs of STOP_LOOKS_MS) {
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      const error = await containerEnd();
      if (error !== undefined) return error;
    }
    return undefined;
  }

  /** It never ran, which makes every reason safe to retry. */
  async function startFailure(report: string): Promise<GloveboxError> {
    const facts = { retrySafe: true, details: { report } };
    if (report.includes("paused state")) {
      return new GloveboxError("busy", "The container was paused as the process was to start. Resume it, then try again.", facts);
    }
    const end = PROGRAM_FAULT.test(report) ? undefined : await containerEndSoon();
    if (end !== undefined) {
      const message = "The container stopped, or was removed, as the process was to start. Start it again, or open another one.";
      return new GloveboxError("gone", message, { ...facts, cause: end });
    }
    const message = `${program} could not be started in the container: ${report}. Check that the image has it and that the user may run it.`;
    return new GloveboxError("not_started", message, facts);
  }

  return {
    look,
    async judge({ exitCode, pid }, { cut, report }) {
      if (report !== undefined && neverStarted({ exitCode, pid })) return { kind: "lost", error: await startFailure(report) };
      if (cut) {
        const message = `The connection to the Docker engine broke while the process ran. It ended with exit code ${exitCode}, but part of its output is lost. Check what it did before running it again.`;
        return { kind: "lost", error: new GloveboxError("unknown_outcome", message, { details: { exitCode } }) };
      }
      const error = exitCode === KILLED ? await containerEndSoon() : undefined;
      return error === undefined ? { kind: "exited", exitCode } : { kind: "lost", error };
    },
    async lost(cause) {
      const error = await containerEnd();
      if (error !== undefined) return { kind: "lost", error };
      const why = cause?.code === "not_found" ? "the engine was restarted and has no record of it" : "the engine does not answer any more";
      const message = `How the process ended is unknown: ${cause === undefined ? "it is out of reach" : why}. It may still run. Check what it did before running it again.`;
      return { kind: "lost", error: new GloveboxError("unknown_outcome", message, { cause }) };
    },
  };
}

/** The engine gives a process that it could not start one of these exit codes, and no pid. */
export function neverStarted({ exitCode, pid }: { readonly exitCode: number; readonly pid: number }): boolean {
  return pid === 0 && (exitCode === 126 || exitCode === 127);
}
