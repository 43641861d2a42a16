import { GloveboxError } from "../../src/contract/errors.js";
import { DEADLINE_MS, type Engine } from "./engine.js";
import { checkNewName } from "./names.js";
import { unlessStatus } from "./unless-status.js";
import { VOLUME_LABEL } from "./volumes.js";

/*
 * What a sandbox with a writable system changed there, kept as an image of its volume's name, so that whoever has the volume
 * finds it, and removing the volume removes it.
 */

/** A commit reads all that was changed. */
const COMMIT_MS = 10 * 60_000;
const MARK = "system";

/** The image's name when there is one for that volume. */
export async function systemOf(engine: Engine, volume: string): Promise<string | undefined> {
  const name = imageName(volume);
  if (name === undefined) return undefined;
  const look = { what: `look up the system kept with ${volume}`, deadlineMs: DEADLINE_MS.inspect, readOnly: true };
  try {
    const { Config: config } = await engine.call(look, (docker) => docker.getImage(name).inspect());
    return config.Labels?.[VOLUME_LABEL] === MARK ? name : undefined;
  } catch (error) {
    if (error instanceof GloveboxError && error.code === "not_found") return undefined;
    throw error;
  }
}

export async function commitSystem(engine: Engine, id: string, volume: string): Promise<void> {
  const name = imageName(volume);
  if (name === undefined)
    throw new GloveboxError("invalid_argument", `${volume} cannot name an image, too: use small letters, digits and "-".`);
  const call = { what: "keep the container's system", deadlineMs: COMMIT_MS };
  const request = { repo: volume, tag: "latest", pause: false, changes: `LABEL ${VOLUME_LABEL}=${MARK}` };
  await engine.call(call, (docker, abortSignal) => docker.getContainer(id).commit({ ...request, abortSignal }));
}

/** The new volume's is the older's, where there is one: each has a name of its own for it, and the last takes it along. */
export async function tagSystem(engine: Engine, from: string, to: string): Promise<void> {
  const name = await systemOf(engine, from);
  if (name === undefined) return;
  const call = { what: `keep the system of ${from}`, deadlineMs: DEADLINE_MS.change };
  await engine.call(call, (docker, abortSignal) => docker.getImage(name).tag({ repo: to, tag: "latest", abortSignal }));
}

/** Rejects `busy` while a container has the volume. */
export async function removeSystem(engine: Engine, volume: string): Promise<void> {
  const name = await systemOf(engine, volume);
  if (name === undefined) return;
  const list = { what: "list the containers", deadlineMs: DEADLINE_MS.list, readOnly: true };
  const filters = { volume: [volume] };
  const users = await engine.call(list, (docker, abortSignal) => docker.listContainers({ all: true, filters, abortSignal }));
  if (users.length > 0) throw new GloveboxError("busy", `The volume ${volume} is in use. Remove its container first.`, { retrySafe: true });
  const call = { what: `remove the system kept with ${volume}`, deadlineMs: DEADLINE_MS.change };
  await unlessStatus(
    404,
    engine.call(call, (docker, abortSignal) => docker.getImage(name).remove({ force: true, abortSignal })),
  );
}

function imageName(volume: string): string | undefined {
  checkNewName(volume, "volume");
  return /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(volume) ? `${volume}:latest` : undefined;
}
