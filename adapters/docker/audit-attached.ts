import { realpathSync } from "node:fs";
import type { ContainerInspectInfo } from "dockerode";
import { auditContainer, type Finding } from "./audit.js";
import { DEADLINE_MS, type Engine } from "./engine.js";

/**
 * Audits a container with what its configuration alone does not tell: where a volume that stands for a directory of the host
 * leads to, and, with an engine on this machine, where the symlinks among its sources lead to.
 */
export async function auditAttached(engine: Engine, container: ContainerInspectInfo): Promise<readonly Finding[]> {
  const mounts = await Promise.all(
    (container.Mounts ?? []).map(async (mount) => {
      const source = mount.Type === "volume" && mount.Name !== undefined ? await deviceOf(engine, mount.Name) : mount.Source;
      return { ...mount, Source: resolveHere(engine, source ?? mount.Source ?? "") };
    }),
  );
  return auditContainer({ ...container, Mounts: mounts }, engine.socketPath);
}

async function deviceOf(engine: Engine, name: string): Promise<string | undefined> {
  if (!/^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,254}$/.test(name)) return undefined;
  const call = { what: "look up a volume", deadlineMs: DEADLINE_MS.inspect, readOnly: true };
  const volume = await engine.call(call, (docker) => docker.getVolume(name).inspect());
  return volume.Options?.device;
}

function resolveHere(engine: Engine, path: string): string {
  if (!engine.local || path === "") return path;
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
