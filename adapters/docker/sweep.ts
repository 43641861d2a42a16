import type { ContainerInfo } from "dockerode";
import { GloveboxError } from "../../src/contract/errors.js";
import type { GloveboxEvent } from "../../src/contract/events.js";
import { inspectContainer } from "./containers.js";
import { DEADLINE_MS, type Engine } from "./engine.js";
import { isOwnerDead, LABEL } from "./owner.js";
import { removeContainer, removeNetwork, removeOwnNetwork } from "./sandbox.js";
import { unlessStatus } from "./unless-status.js";

const STOP_SECONDS = 1;

/**
 * Removes what sessions of processes that are provably dead left at this engine: containers first, then networks without
 * one. Resolves to how many. What cannot be removed, or is being removed by another sweep, is left to the next one.
 */
export async function sweepSessions(engine: Engine): Promise<number> {
  const list = { what: "list the containers", deadlineMs: DEADLINE_MS.list, readOnly: true };
  const filters = { label: [`${LABEL.kind}=session`] };
  const containers = await engine.call(list, (docker, abortSignal) => docker.listContainers({ all: true, filters, abortSignal }));
  let removed = 0;
  for (const container of containers) if (await removeOrphan(engine, container)) removed += 1;
  const networks = await engine.call({ ...list, what: "list the networks" }, (docker) => docker.listNetworks({ filters }));
  for (const { Name: name, Labels: labels } of networks) {
    if (!isOwnerDead(labels?.[LABEL.owner]) || !/^glovebox-[0-9a-f]{32}$/.test(name)) continue;
    if (await succeeds(removeNetwork(engine, name))) removed += 1;
  }
  return removed;
}

async function removeOrphan(engine: Engine, { Id: id, Labels: listed }: ContainerInfo): Promise<boolean> {
  if (!isOwnerDead(listed[LABEL.owner])) return false;
  return await succeeds(
    (async () => {
      const container = await inspectContainer(engine, id);
      const labels = container.Config.Labels;
      // A container made from a copy of ours inherits the labels, but not the host name.
      const isOriginal = labels[LABEL.id] !== undefined && container.Config.Hostname === labels[LABEL.id];
      if (!isOriginal || !isOwnerDead(labels[LABEL.owner])) throw new GloveboxError("permission_denied", "It is somebody else's.");
      await stopContainer(engine, id, STOP_SECONDS);
      // Never by force: one that somebody started again in the meantime stays.
      await removeContainer(engine, id, { force: false });
      await removeOwnNetwork(engine, container.HostConfig.NetworkMode);
    })(),
  );
}

/** Stopping one that is stopped, or gone, is fine; a paused one goes the same way. */
export async function stopContainer(engine: Engine, id: string, graceSeconds: number): Promise<void> {
  const call = { what: "stop the container", deadlineMs: DEADLINE_MS.change + graceSeconds * 1_000 };
  await unlessStatus(
    304,
    engine.call(call, (docker, abortSignal) => docker.getContainer(id).stop({ t: graceSeconds, abortSignal })),
  );
}

async function succeeds(work: Promise<unknown>): Promise<boolean> {
  return await work.then(
    () => true,
    () => false,
  );
}

const swept = new Set<string>();

/** Sweeps once for each engine in this process's life, at the first start. Never rejects: leftovers can wait. */
export async function sweepOnce(engine: Engine, target: string, onEvent?: (event: GloveboxEvent) => void): Promise<void> {
  if (swept.has(engine.label)) return;
  swept.add(engine.label);
  try {
    const removed = await sweepSessions(engine);
    if (removed > 0)
      onEvent?.({ type: "target_swept", target, removed, what: "containers and networks of sessions whose process is dead" });
  } catch {
    // The next process tries again.
  }
}
