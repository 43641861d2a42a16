import { GloveboxError } from "../../src/contract/errors.js";
import type { EngineCapacity } from "../../src/contract/target.js";
import { DEADLINE_MS, type Engine } from "./engine.js";
import { freeMemoryBytes } from "./free-memory.js";
import { LABEL } from "./owner.js";
import type { SandboxSpec } from "./sandbox-spec.js";

/**
 * Free memory is what this machine could give now, for an engine on it. For one elsewhere, whose API does not tell, it is the
 * machine's whole memory less what the sandboxes that run or are paused there may use.
 */
export async function engineCapacity(engine: Engine, spec: SandboxSpec): Promise<EngineCapacity> {
  const sandboxBytes = spec.create.HostConfig?.Memory ?? 0;
  const [hasImage, freeBytes] = await Promise.all([
    isPresent(engine, spec.image),
    engine.local ? freeMemoryBytes(engine) : unpromisedBytes(engine, sandboxBytes),
  ]);
  return { hasImage, sandboxBytes, ...(freeBytes === undefined ? {} : { freeBytes }) };
}

async function isPresent(engine: Engine, image: string): Promise<boolean> {
  const call = { what: `look up the image ${image}`, deadlineMs: DEADLINE_MS.inspect, readOnly: true };
  try {
    await engine.call(call, (docker) => docker.getImage(image).inspect());
    return true;
  } catch (error) {
    if (error instanceof GloveboxError && error.code === "not_found") return false;
    throw error;
  }
}

async function unpromisedBytes(engine: Engine, sandboxBytes: number): Promise<number> {
  const ask = { what: "ask for the engine's facts", deadlineMs: DEADLINE_MS.list, readOnly: true };
  const list = { what: "list the containers", deadlineMs: DEADLINE_MS.list, readOnly: true };
  const filters = { label: [`${LABEL.kind}=provisioned`], status: ["running", "paused"] };
  const [facts, found] = await Promise.all([
    engine.call(ask, (docker) => docker.info() as Promise<{ readonly MemTotal?: number }>),
    engine.call(list, (docker, abortSignal) => docker.listContainers({ filters, abortSignal })),
  ]);
  return Math.max(0, (facts.MemTotal ?? 0) - found.length * sandboxBytes);
}
