import Docker from "dockerode";
import { isAlive, mayBeRunning, testLabel } from "./run-identity.js";

/** The label in which the docker adapter names the process that owns a container: PID:STARTTIME. */
const ownerLabel = "glovebox.owner";

/** A client for the engine that DOCKER_HOST names, or the default one. */
export function engineClient(dockerHost: string | undefined = process.env.DOCKER_HOST): Docker {
  if (dockerHost?.startsWith("unix://")) return new Docker({ socketPath: dockerHost.slice("unix://".length) });
  return new Docker();
}

/** Removes the containers, volumes and networks that bear the label of this run, or of a run whose process is gone. */
export async function sweepEngine(docker: Docker, run: string | undefined): Promise<void> {
  const isOurs = (labels: Readonly<Record<string, string>> | null | undefined): boolean => {
    const owner = labels?.[testLabel];
    return owner !== undefined && (owner === run || !mayBeRunning(owner));
  };
  const filters = { label: [testLabel] };
  const containers = await docker.listContainers({ all: true, filters });
  await Promise.all(
    containers
      .filter((each) => isOurs(each.Labels))
      .map((each) => ignoreAbsence(docker.getContainer(each.Id).remove({ force: true, v: true }))),
  );
  const { Volumes } = await docker.listVolumes({ filters });
  await Promise.all(
    (Volumes ?? []).filter((each) => isOurs(each.Labels)).map((each) => ignoreAbsence(docker.getVolume(each.Name).remove())),
  );
  const networks = await docker.listNetworks({ filters });
  await Promise.all(networks.filter((each) => isOurs(each.Labels)).map((each) => ignoreAbsence(docker.getNetwork(each.Id).remove())));
}

/**
 * Removes containers that the adapter made since a moment and whose owner, a process of this machine, is gone, and
 * returns their ids: whoever made them did not keep the promise to remove them.
 */
export async function sweepOrphans(docker: Docker, sinceSeconds: number): Promise<readonly string[]> {
  const containers = await docker.listContainers({ all: true, filters: { label: [ownerLabel] } });
  const orphans = containers.filter(({ Created, Labels }) => {
    const pid = Number(/^(\d+):/.exec(Labels[ownerLabel] ?? "")?.[1]);
    return Created >= sinceSeconds && pid > 0 && !isAlive(pid);
  });
  await Promise.all(orphans.map((each) => ignoreAbsence(docker.getContainer(each.Id).remove({ force: true, v: true }))));
  return orphans.map((each) => each.Id);
}

/** Two sweeps at once race for the same containers; what is gone, or going, is what was wanted. */
async function ignoreAbsence(removal: Promise<unknown>): Promise<void> {
  try {
    await removal;
  } catch (error) {
    const status = (error as { statusCode?: number }).statusCode;
    if (status !== 404 && status !== 409) throw error;
  }
}
