import type { ContainerInspectInfo } from "dockerode";
import { GloveboxError } from "../../src/contract/errors.js";
import type { EngineProvisioner, Provisioned, ProvisionedState } from "../../src/contract/target.js";
import { engineCapacity } from "./capacity.js";
import { containerId, inspectContainer, whyNotRunning } from "./containers.js";
import { copyVolume } from "./copies.js";
import { attachedTarget } from "./docker.js";
import { connectEngine, DEADLINE_MS } from "./engine.js";
import type { EngineOptions } from "./engine-address.js";
import { engineLocks } from "./engine-locks.js";
import { exportWorkspace } from "./export.js";
import { freeMemoryBytes } from "./free-memory.js";
import { checkLabels, checkNewName, RESERVED_LABEL } from "./names.js";
import type { SandboxOptions } from "./options.js";
import { isOurs, LABEL, makerOf, ownerLabels } from "./owner.js";
import { createSandbox, removeContainer, removeOwnNetwork, startContainer } from "./sandbox.js";
import { sandboxSpec } from "./sandbox-spec.js";
import { pauseBetweenStarts } from "./start-gate.js";
import { stopContainer, sweepSessions } from "./sweep.js";
import { removeSystem, systemOf } from "./systems.js";
import { createWorkspaceVolume, listVolumes, removeWorkspaceVolume } from "./volumes.js";

export interface DockerProvisioner extends EngineProvisioner {
  /** Removes what sessions of dead processes left at the engine; provisioned containers are left alone. Resolves to how many. */
  sweep(): Promise<number>;
  /** Deletes a workspace volume with all that is in it. Only one that Glovebox made. */
  removeVolume(name: string): Promise<void>;
  /** Closes the connections to the engine. Containers stay as they are. */
  close(): Promise<void>;
}

/** What the containers are to be. One volume for all of them is rarely meant: `workspace` is better left ephemeral, or asked for per create. */
export type DockerProvisionerOptions = EngineOptions & Omit<SandboxOptions, "name">;

/** Labels of this prefix are for whoever uses the provisioner; the rest of `glovebox.` is the adapter's own. */
const CALLERS_LABEL = `${RESERVED_LABEL}fleet.`;
const STOP_SECONDS = 2;
const MAX_FREEZES = 5;

/**
 * Makes containers that outlive this process, all alike, and looks after those that any process's provisioner made. `create`
 * also starts the container. Ids are full ids; one of a container that no provisioner made is refused (`permission_denied`).
 * start, stop, pause and resume are content with a container that is so already; remove, with one that is gone; the rest
 * reject `gone` then.
 */
export function dockerProvisioner(options: DockerProvisionerOptions = {}): DockerProvisioner {
  const engine = connectEngine(options);
  const spec = sandboxSpec(options, engine.local);
  const locks = engineLocks(engine);
  const verified = new Set<string>();

  /** Asks the engine once for each id: what is checked cannot change. */
  async function verify(id: string): Promise<void> {
    if (verified.has(containerId(id))) return;
    checkProvisioned(await inspectContainer(engine, id));
    verified.add(id);
  }

  const call = (what: string) => ({ what: `${what} the container`, deadlineMs: DEADLINE_MS.change });

  return {
    async create({ name, labels = {}, volume, signal }) {
      const chosen = name === undefined ? undefined : checkNewName(name, "container");
      const own = volume === undefined ? spec : sandboxSpec({ ...options, workspace: { volume } }, engine.local);
      // Before the container's own try, which makes a missing one without these labels.
      if (own.volume !== undefined && volume !== undefined) {
        await createWorkspaceVolume(engine, own.volume, signal, { ...callersLabels(labels), ...ownerLabels("provisioned") });
      }
      // Only a system that can be changed is ever kept.
      const system = volume !== undefined && options.writableRootfs === true ? await systemOf(engine, volume) : undefined;
      const { id } = await createSandbox(engine, system === undefined ? own : { ...own, image: system }, {
        kind: "provisioned",
        labels: callersLabels(labels),
        name: chosen,
        signal,
      });
      verified.add(id);
      return provisionedFrom(await inspectContainer(engine, id));
    },

    async list(labels, { signal } = {}) {
      const filters = { label: [`${LABEL.kind}=provisioned`, ...Object.entries(labels).map(([name, value]) => `${name}=${value}`)] };
      const list = { what: "list the containers", deadlineMs: DEADLINE_MS.list, readOnly: true, signal };
      const found = await engine.call(list, (docker, abortSignal) => docker.listContainers({ all: true, filters, abortSignal }));
      return found.map(({ Id: id, Names: names, State: state, Labels: own, Created: seconds }) => {
        const name = (names[0] ?? "").replace(/^\//, "");
        return { id, name, state: stateOf(state), labels: own, createdMs: seconds * 1000, maker: makerOf(own) };
      });
    },

    async find(text, { signal } = {}) {
      const name = checkNewName(text, "container");
      const found = await inspectContainer(engine, name, { signal }).catch(absent);
      // The engine also takes the beginning of an id for a name.
      return found !== undefined && found.Name === `/${name}` ? provisionedFrom(found) : undefined;
    },

    async start(id) {
      await verify(id);
      await startContainer(engine, id);
    },

    async stop(id) {
      await verify(id);
      await stopContainer(engine, id, STOP_SECONDS);
    },

    async pause(id) {
      await verify(id);
      await pauseBetweenStarts(id, async () => {
        for (let tries = 1; ; tries += 1) {
          const pausing = engine.call(call("pause"), (docker, abortSignal) => docker.getContainer(id).pause({ abortSignal }));
          try {
            await unlessMessage(/is already paused/, pausing);
            return;
          } catch (error) {
            // The kernel could not freeze processes that were being made just then; the engine has thawed the rest again.
            if (tries === MAX_FREEZES || !(error instanceof GloveboxError) || !/unable to freeze/.test(String(error.details.engineMessage)))
              throw error;
          }
          await new Promise((resolve) => setTimeout(resolve, tries * 50));
        }
      });
    },

    async resume(id) {
      await verify(id);
      const resuming = engine.call(call("resume"), (docker, abortSignal) => docker.getContainer(id).unpause({ abortSignal }));
      if (await unlessMessage(/is not paused/, resuming)) return;
      const why = whyNotRunning(await inspectContainer(engine, id));
      if (why !== undefined) throw why;
    },

    async rename(id, name) {
      await verify(id);
      const newName = checkNewName(name, "container");
      const renaming = engine.call(call("rename"), (docker, abortSignal) => docker.getContainer(id).rename({ name: newName, abortSignal }));
      await unlessMessage(/same name as its current name/, renaming);
    },

    async remove(id) {
      const found = await inspectContainer(engine, containerId(id)).catch(absent);
      if (found === undefined) return;
      checkProvisioned(found);
      // By force only what this process made itself: another's may have been started again by somebody in the meantime.
      const force = isOurs(found.Config.Labels);
      if (!force) await stopContainer(engine, id, STOP_SECONDS).catch(absent);
      await removeContainer(engine, id, { force });
      await removeOwnNetwork(engine, found.HostConfig.NetworkMode);
      verified.delete(id);
    },

    async export(id) {
      await verify(id);
      const { Config: config } = await inspectContainer(engine, id);
      return await exportWorkspace(engine, { id, user: config.User, directory: config.Labels[LABEL.workspace] ?? spec.workdir });
    },

    target: (id) => attachedTarget({ ...engineOnly(options), container: containerId(id) }),
    sweep: () => sweepSessions(engine),
    volumes: (labels) => listVolumes(engine, labels),
    async removeVolume(name) {
      const remove = async (): Promise<void> => {
        await removeSystem(engine, name);
        await removeWorkspaceVolume(engine, name);
      };
      await remove().catch(async (error: unknown) => {
        // A copy that a dead process began may still hold it.
        if (!(error instanceof GloveboxError) || error.code !== "busy" || (await sweepSessions(engine)) === 0) throw error;
        await remove();
      });
    },
    copyVolume: (copy) => copyVolume(engine, spec.image, { ...copy, labels: callersLabels(copy.labels) }),
    lock: (name, labels) => locks.take(name, callersLabels(labels)),
    unlock: (name) => locks.release(name),
    mark: (name, labels) => locks.mark(name, callersLabels(labels)),
    capacity: () => engineCapacity(engine, spec),
    freeMemoryBytes: () => freeMemoryBytes(engine),
    async close() {
      engine.close();
    },
  };
}

function engineOnly({ host, certificates, engine, allowUnencryptedEngine }: EngineOptions): EngineOptions {
  return { host, certificates, engine, allowUnencryptedEngine };
}

function callersLabels(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const isOwn = (name: string): boolean => name.startsWith(CALLERS_LABEL) && name.length > CALLERS_LABEL.length;
  const renamed = Object.entries(labels).map(([name, value]) => [isOwn(name) ? name.slice(CALLERS_LABEL.length) : name, value] as const);
  checkLabels(Object.fromEntries(renamed));
  return labels;
}

function checkProvisioned({ Id: id, Config: config }: ContainerInspectInfo): void {
  const labels = config.Labels ?? {};
  // A container made from a copy of one inherits the labels, but not the host name.
  if (labels[LABEL.kind] === "provisioned" && config.Hostname === labels[LABEL.id]) return;
  const message = `The container ${id.slice(0, 12)} was not made by a provisioner, so it is left alone.`;
  throw new GloveboxError("permission_denied", message, { retrySafe: true });
}

function provisionedFrom({ Id: id, Name: name, State: state, Config: config, Created: created }: ContainerInspectInfo): Provisioned {
  return {
    id,
    name: name.replace(/^\//, ""),
    state: stateOf(state.Status),
    labels: config.Labels,
    createdMs: Date.parse(created),
    maker: makerOf(config.Labels),
  };
}

function stateOf(state: string): ProvisionedState {
  if (state === "created" || state === "running" || state === "paused") return state;
  if (state === "restarting") return "running";
  return state === "removing" || state === "dead" ? "gone" : "stopped";
}

/** Resolves to false when the engine refused with that message, which is as good as a success. */
async function unlessMessage(message: RegExp, work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (error instanceof GloveboxError && message.test(String(error.details.engineMessage))) return false;
    throw error;
  }
}

function absent(error: unknown): undefined {
  if (error instanceof GloveboxError && error.code === "gone") return undefined;
  throw error;
}
