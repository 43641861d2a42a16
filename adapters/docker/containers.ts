import type { ContainerInspectInfo } from "dockerode";
import { GloveboxError } from "../../src/contract/errors.js";
import { DEADLINE_MS, type Engine } from "./engine.js";
import { checkContainer, checkEngineId, isFullId } from "./names.js";

export interface ContainerOptions {
  readonly signal?: AbortSignal;
}

/**
 * Looks a container up by its name or full id, once; from then on only the full id is used. Rejects `not_found` when there
 * is none, or when the engine took the text for something shorter than that.
 */
export async function findContainer(engine: Engine, text: string, { signal }: ContainerOptions = {}): Promise<ContainerInspectInfo> {
  const name = checkContainer(text);
  let found: ContainerInspectInfo;
  try {
    found = await inspectContainer(engine, name, { signal });
  } catch (error) {
    if (!(error instanceof GloveboxError) || error.code !== "gone") throw error;
    throw notFound(engine, name, error);
  }
  if (found.Name !== `/${name}` && found.Id !== name) throw notFound(engine, name);
  checkEngineId(found.Id, `the container ${name}`);
  return found;
}

function notFound(engine: Engine, name: string, cause?: unknown): GloveboxError {
  const message = `There is no container ${name} at ${engine.label}. Give its whole name or its full id of 64 digits: docker ps --all --no-trunc lists them.`;
  return new GloveboxError("not_found", message, { retrySafe: true, cause });
}

/** Rejects `gone` when there is no such container. */
export async function inspectContainer(engine: Engine, id: string, { signal }: ContainerOptions = {}): Promise<ContainerInspectInfo> {
  const call = { what: "look up the container", deadlineMs: DEADLINE_MS.inspect, readOnly: true, signal };
  return await engine.call(call, (docker, abortSignal) => docker.getContainer(id).inspect({ abortSignal }));
}

/** The full id, made sure of once more where it enters a path. */
export function containerId(id: string): string {
  if (isFullId(id)) return id;
  throw new GloveboxError("invalid_argument", `${JSON.stringify(id.slice(0, 80))} is not a container's full id of 64 hexadecimal digits.`);
}

/** Why nothing can be started in a container in that state; undefined when it runs. */
export function whyNotRunning({ Id, State }: ContainerInspectInfo): GloveboxError | undefined {
  const name = Id.slice(0, 12);
  if (State.Paused)
    return new GloveboxError("busy", `The container ${name} is paused. Resume it (docker unpause), then try again.`, { retrySafe: true });
  if (State.Running) return undefined;
  const facts = { retrySafe: true, details: { state: State.Status, exitCode: State.ExitCode, outOfMemory: State.OOMKilled } };
  const why = State.OOMKilled ? "stopped, and processes in it had been killed for want of memory" : `${State.Status}, not running`;
  return new GloveboxError(
    "gone",
    `The container ${name} is ${why}. Start it again, or open another one; what it had in memory is lost.`,
    facts,
  );
}
