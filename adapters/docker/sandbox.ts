import { randomBytes } from "node:crypto";
import { GloveboxError } from "../../src/contract/errors.js";
import { inspectContainer } from "./containers.js";
import { DEADLINE_MS, type Engine } from "./engine.js";
import { checkEngineId, checkImage, RESERVED_NAME } from "./names.js";
import { type Kind, LABEL, ownerLabels } from "./owner.js";
import type { SandboxSpec } from "./sandbox-spec.js";
import { unlessStatus } from "./unless-status.js";
import { createWorkspaceVolume } from "./volumes.js";

export interface Sandbox {
  /** The full id. */
  readonly id: string;
  readonly name: string;
  /** A volume was made for it, so that its owner is not known. */
  readonly newVolume: boolean;
}

export interface CreateOptions {
  readonly kind: Kind;
  /** Labels beside the user's and the owner's. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Instead of the spec's name. */
  readonly name?: string;
  readonly signal?: AbortSignal;
}

/**
 * Makes the container and starts it. Rejects `not_found` (image, network), `exists` (name), `invalid_argument`,
 * `not_started`, and what the engine's calls reject with; nothing is left behind then, even if an answer was lost: the name
 * is chosen first, and looked up again.
 */
export async function createSandbox(engine: Engine, spec: SandboxSpec, options: CreateOptions): Promise<Sandbox> {
  const { signal } = options;
  const token = randomBytes(16).toString("hex");
  const name = options.name ?? spec.name ?? `${RESERVED_NAME}${token}`;
  const image = await resolveImage(engine, spec.image, signal);
  const newVolume = spec.volume !== undefined && (await createWorkspaceVolume(engine, spec.volume, signal));
  const network = spec.network === "isolated" ? await createNetwork(engine, `${RESERVED_NAME}${token}`, options.kind, signal) : undefined;
  const labels = {
    ...spec.create.Labels,
    ...options.labels,
    // Last, so that nothing of a user's can stand in their place.
    [LABEL.image]: spec.image,
    [LABEL.workspace]: spec.workdir,
    [LABEL.id]: token,
    ...ownerLabels(options.kind),
  };
  const networkMode = network ?? (typeof spec.network === "object" ? spec.network.name : "none");
  try {
    const id = await create(
      engine,
      {
        ...spec.create,
        name,
        Image: image,
        Hostname: token,
        Labels: labels,
        HostConfig: { ...spec.create.HostConfig, NetworkMode: networkMode },
      },
      signal,
    );
    try {
      await startContainer(engine, id, signal);
    } catch (error) {
      throw notStarted(error, spec.image);
    }
    return { id, name, newVolume };
  } catch (error) {
    await removeLeftover(engine, name, token).catch(() => undefined);
    if (network !== undefined) await removeNetwork(engine, network).catch(() => undefined);
    throw error;
  }
}

type CreateRequest = SandboxSpec["create"];

async function create(engine: Engine, request: CreateRequest, signal: AbortSignal | undefined): Promise<string> {
  const call = { what: `create the container ${request.name}`, deadlineMs: DEADLINE_MS.create, signal };
  const { id } = await engine.call(call, (docker, abortSignal) => docker.createContainer({ ...request, abortSignal }));
  return checkEngineId(id, "a container");
}

/** Starting one that runs is fine. */
export async function startContainer(engine: Engine, id: string, signal?: AbortSignal): Promise<void> {
  const call = { what: "start the container", deadlineMs: DEADLINE_MS.start, signal };
  await unlessStatus(
    304,
    engine.call(call, (docker, abortSignal) => docker.getContainer(id).start({ abortSignal })),
  );
}

function notStarted(error: unknown, image: string): unknown {
  const isProgram = error instanceof GloveboxError && /exec: "sleep"/.test(String(error.details.engineMessage));
  return isProgram ? withoutSleep(image, error) : error;
}

/** Whether the container ended at once because the engine's init found no main program. */
export async function endedWithoutSleep(engine: Engine, id: string): Promise<boolean> {
  const found = await inspectContainer(engine, id).catch(() => undefined);
  return found?.State.Running === false && [126, 127].includes(found.State.ExitCode);
}

export function withoutSleep(image: string, cause?: unknown): GloveboxError {
  const message = `The image ${image} has no program "sleep", which a sandbox waits with. Choose an image that has sh and sleep.`;
  return new GloveboxError("unsupported", message, { retrySafe: true, cause });
}

/** The id that the image's name stands for now. */
export async function resolveImage(engine: Engine, name: string, signal: AbortSignal | undefined): Promise<string> {
  const image = checkImage(name);
  const call = { what: `look up the image ${image}`, deadlineMs: DEADLINE_MS.inspect, readOnly: true, signal };
  const { Id } = await engine.call(call, (docker) => docker.getImage(image).inspect());
  if (/^sha256:[0-9a-f]{64}$/.test(Id)) return Id;
  throw new GloveboxError("unexpected", `The Docker engine gave ${JSON.stringify(Id)} as the id of the image ${image}.`);
}

async function createNetwork(engine: Engine, name: string, kind: Kind, signal: AbortSignal | undefined): Promise<string> {
  const call = { what: "create the sandbox's network", deadlineMs: DEADLINE_MS.change, signal };
  const request = {
    Name: name,
    Driver: "bridge",
    CheckDuplicate: true,
    Labels: { ...ownerLabels(kind) },
    Options: { "com.docker.network.bridge.enable_icc": "false" },
  };
  try {
    await engine.call(call, (docker, abortSignal) => docker.createNetwork({ ...request, abortSignal }));
  } catch (error) {
    await removeNetwork(engine, name).catch(() => undefined);
    throw error;
  }
  return name;
}

export async function removeNetwork(engine: Engine, name: string): Promise<void> {
  const call = { what: "remove the sandbox's network", deadlineMs: DEADLINE_MS.change };
  await unlessStatus(
    404,
    engine.call(call, (docker, abortSignal) => docker.getNetwork(name).remove({ abortSignal })),
  );
}

/** After a failed create: what bears that name is removed if it bears the token too. */
async function removeLeftover(engine: Engine, name: string, token: string): Promise<void> {
  const found = await inspectContainer(engine, name);
  if (found.Name === `/${name}` && found.Config.Labels[LABEL.id] === token) await removeContainer(engine, found.Id, { force: true });
}

/**
 * Removes a container and its anonymous volumes; one that is not there is fine. `force` kills it first: only for containers
 * that this process made itself. Without it a container that runs is refused (`busy`).
 */
export async function removeContainer(engine: Engine, id: string, { force }: { readonly force: boolean }): Promise<void> {
  const call = { what: "remove the container", deadlineMs: DEADLINE_MS.change };
  try {
    await unlessStatus(
      404,
      engine.call(call, (docker, abortSignal) => docker.getContainer(id).remove({ v: true, force, abortSignal })),
    );
  } catch (error) {
    const inProgress =
      error instanceof GloveboxError && /removal of container .* is already in progress/i.test(String(error.details.engineMessage));
    if (!inProgress) throw error;
  }
}

/** Removes a sandbox of this process and the network that was made for it. */
export async function removeSandbox(engine: Engine, { id }: Pick<Sandbox, "id">): Promise<void> {
  const found = await inspectContainer(engine, id).catch(() => undefined);
  await removeContainer(engine, id, { force: true });
  await removeOwnNetwork(engine, found?.HostConfig.NetworkMode);
}

export async function removeOwnNetwork(engine: Engine, networkMode: string | undefined): Promise<void> {
  if (networkMode !== undefined && /^glovebox-[0-9a-f]{32}$/.test(networkMode)) await removeNetwork(engine, networkMode);
}
