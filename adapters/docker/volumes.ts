import { GloveboxError } from "../../src/contract/errors.js";
import type { ProvisionedVolume } from "../../src/contract/target.js";
import { DEADLINE_MS, type Engine } from "./engine.js";
import { checkUserName } from "./names.js";
import { makerOf } from "./owner.js";
import { unlessStatus } from "./unless-status.js";

/** Marks a volume that Glovebox made. */
export const VOLUME_LABEL = "glovebox.volume";

/** Makes the volume unless it is there. Resolves to whether it was made; only then does it bear the labels. */
export async function createWorkspaceVolume(
  engine: Engine,
  { name, driverOptions }: { readonly name: string; readonly driverOptions: Readonly<Record<string, string>> },
  signal?: AbortSignal,
  labels: Readonly<Record<string, string>> = {},
): Promise<boolean> {
  const look = { what: `look up the volume ${name}`, deadlineMs: DEADLINE_MS.inspect, readOnly: true, signal };
  try {
    await engine.call(look, (docker, abortSignal) => docker.getVolume(name).inspect({ abortSignal }));
    return false;
  } catch (error) {
    if (!(error instanceof GloveboxError) || error.code !== "not_found") throw error;
  }
  const make = { what: `create the volume ${name}`, deadlineMs: DEADLINE_MS.change, signal };
  const request = { Name: name, Driver: "local", DriverOpts: { ...driverOptions }, Labels: { ...labels, [VOLUME_LABEL]: "workspace" } };
  await engine.call(make, (docker, abortSignal) => docker.createVolume({ ...request, abortSignal }));
  return true;
}

/** Whether there is a volume of that name that Glovebox made for files. */
export async function isWorkspace(engine: Engine, name: string): Promise<boolean> {
  const call = { what: `look up the volume ${name}`, deadlineMs: DEADLINE_MS.inspect, readOnly: true };
  const { Labels: labels } = await engine.call(call, (docker, abortSignal) => docker.getVolume(name).inspect({ abortSignal }));
  return labels?.[VOLUME_LABEL] === "workspace";
}

/** Deletes a workspace volume with all that is in it. Only one that Glovebox made; one that is gone is fine. Rejects `busy` while a container uses it. */
export async function removeWorkspaceVolume(engine: Engine, volume: string): Promise<void> {
  const name = checkUserName(volume, "volume");
  const look = { what: `look up the volume ${name}`, deadlineMs: DEADLINE_MS.inspect, readOnly: true };
  const found = await engine
    .call(look, (docker, abortSignal) => docker.getVolume(name).inspect({ abortSignal }))
    .catch((error: unknown) => {
      if (error instanceof GloveboxError && error.code === "not_found") return undefined;
      throw error;
    });
  if (found === undefined) return;
  if (found.Labels?.[VOLUME_LABEL] === undefined) {
    throw new GloveboxError(
      "permission_denied",
      `The volume ${name} was not made by Glovebox, so it is left alone. Remove it with docker volume rm.`,
    );
  }
  const call = { what: `remove the volume ${name}`, deadlineMs: DEADLINE_MS.change };
  await unlessStatus(
    404,
    engine.call(call, (docker, abortSignal) => docker.getVolume(name).remove({ abortSignal })),
  );
}

/** The volumes that Glovebox made and that bear all these labels, locks among them. */
export async function listVolumes(engine: Engine, labels: Readonly<Record<string, string>>): Promise<readonly ProvisionedVolume[]> {
  const call = { what: "list the volumes", deadlineMs: DEADLINE_MS.list, readOnly: true };
  const filters = { label: [VOLUME_LABEL, ...Object.entries(labels).map(([name, value]) => `${name}=${value}`)] };
  const { Volumes: found } = await engine.call(call, (docker, abortSignal) => docker.listVolumes({ filters, abortSignal }));
  return (found ?? []).map(({ Name: name, Labels: own }) => {
    return { name, labels: own, maker: makerOf(own), isLock: own[VOLUME_LABEL] === "lock" };
  });
}
