import { randomBytes } from "node:crypto";
import { GloveboxError } from "../../src/contract/errors.js";
import type { VolumeCopy } from "../../src/contract/target.js";
import { inspectContainer } from "./containers.js";
import { DEADLINE_MS, type Engine } from "./engine.js";
import { checkEngineId, checkNewName, checkUserName } from "./names.js";
import { LABEL, ownerLabels } from "./owner.js";
import { removeContainer, resolveImage } from "./sandbox.js";
import { commitSystem, removeSystem, tagSystem } from "./systems.js";
import { createWorkspaceVolume, isWorkspace, removeWorkspaceVolume } from "./volumes.js";

/** A big workspace on a slow disk takes minutes. */
const COPY_MS = 30 * 60_000;
const MEMORY_BYTES = 256 * 1024 ** 2;

/**
 * Makes the volume and fills it by a container that lives as long as the copy: the source mounted read-only, no network, root
 * with the three capabilities that keeping owners and modes needs, and nothing else of the machine.
 */
export async function copyVolume(engine: Engine, image: string, { from, to, labels, systemOf, signal }: VolumeCopy): Promise<void> {
  const name = checkUserName(to, "volume");
  const source = from === undefined ? undefined : checkNewName(from, "volume");
  if (source !== undefined && !(await isWorkspace(engine, source))) {
    throw new GloveboxError("permission_denied", `The volume ${source} was not made by Glovebox, so it is not copied.`, {
      retrySafe: true,
    });
  }
  const made = await createWorkspaceVolume(engine, { name, driverOptions: {} }, signal, { ...labels, ...ownerLabels("provisioned") });
  if (!made) throw new GloveboxError("exists", `There is a volume ${name} already. Choose another name.`, { retrySafe: true });
  try {
    if (source === undefined) return;
    await fill(engine, image, { source, name, signal });
    if (systemOf !== undefined) await keepSystem(engine, systemOf, name);
    else await tagSystem(engine, source, name);
  } catch (error) {
    await removeSystem(engine, name).catch(() => undefined);
    await removeWorkspaceVolume(engine, name).catch(() => undefined);
    throw error;
  }
}

async function keepSystem(engine: Engine, id: string, name: string): Promise<void> {
  const { HostConfig: host } = await inspectContainer(engine, id);
  if (host.ReadonlyRootfs !== true) await commitSystem(engine, id, name);
}

interface Filling {
  readonly source: string;
  readonly name: string;
  readonly signal: AbortSignal | undefined;
}

async function fill(engine: Engine, image: string, { source, name, signal }: Filling): Promise<void> {
  const token = randomBytes(16).toString("hex");
  const request = {
    Image: await resolveImage(engine, image, signal),
    Entrypoint: ["cp", "-a", "/from/.", "/to/"],
    Cmd: [],
    Healthcheck: { Test: ["NONE"] },
    User: "0:0",
    WorkingDir: "/",
    // As a session's, so that it is swept when its maker is dead.
    Hostname: token,
    Labels: { [LABEL.id]: token, ...ownerLabels("session") },
    HostConfig: {
      Init: true,
      ReadonlyRootfs: true,
      CapDrop: ["ALL"],
      CapAdd: ["CHOWN", "DAC_OVERRIDE", "FOWNER"],
      SecurityOpt: ["no-new-privileges"],
      NetworkMode: "none",
      IpcMode: "private",
      Memory: MEMORY_BYTES,
      MemorySwap: MEMORY_BYTES,
      PidsLimit: 16,
      LogConfig: { Type: "none", Config: {} },
      Mounts: [
        { Type: "volume" as const, Source: source, Target: "/from", ReadOnly: true },
        { Type: "volume" as const, Source: name, Target: "/to" },
      ],
    },
  };
  const call = (what: string, deadlineMs: number) => ({ what: `${what} the copy of ${source}`, deadlineMs, signal });
  const { id } = await engine.call(call("prepare", DEADLINE_MS.create), (docker, abortSignal) =>
    docker.createContainer({ ...request, abortSignal }),
  );
  checkEngineId(id, "a container");
  try {
    await engine.call(call("start", DEADLINE_MS.start), (docker, abortSignal) => docker.getContainer(id).start({ abortSignal }));
    const ended = await engine.call(call("finish", COPY_MS), (docker, abortSignal) => docker.getContainer(id).wait({ abortSignal }));
    const { StatusCode: status } = ended as { StatusCode?: unknown };
    if (status === 0) return;
    const advice = "The engine's disk may be full. Free some space there, and try again.";
    throw new GloveboxError("unexpected", `The copy of ${source} is not complete: cp ended with exit code ${String(status)}. ${advice}`, {
      retrySafe: true,
      details: { exitCode: status },
    });
  } finally {
    await removeContainer(engine, id, { force: true }).catch(() => undefined);
  }
}
