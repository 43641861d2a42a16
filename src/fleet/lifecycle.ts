import { GloveboxError } from "../contract/errors.js";
import type { Environment, Provisioned } from "../contract/target.js";
import { openEnvironment } from "../environment.js";
import { type BringUpOptions, createClaims } from "./claim.js";
import { attempt, type Ground, isGone, messageOf } from "./ground.js";
import type { Maker } from "./make.js";
import { createOwnership } from "./ownership.js";
import { settledBy } from "./patience.js";
import { attach, dropEnvironment, type Sandbox, tell } from "./sandbox.js";
import type { Warm } from "./warm.js";

/** Acts on one sandbox; each to be called in its turn. */
export interface Lifecycle {
  /** Makes it ready, whatever it is now. On rejection nothing is held that was not before. */
  bringUp(sandbox: Sandbox, options: BringUpOptions): Promise<Environment>;
  /** Takes the lock of one that was found, without waiting. */
  adopt(sandbox: Sandbox, found: Provisioned): Promise<boolean>;
  pause(sandbox: Sandbox): Promise<void>;
  stop(sandbox: Sandbox): Promise<void>;
  /** With its files. Must be owned. */
  remove(sandbox: Sandbox): Promise<void>;
  /** Lets go of it as it is. */
  yieldLock(sandbox: Sandbox): Promise<void>;
  /** A new one in its place, with the same files. */
  replace(sandbox: Sandbox, tenant: string): Promise<void>;
  /** Waits for the lock, asking whoever holds it to let go. */
  own(sandbox: Sandbox, signal: AbortSignal): Promise<void>;
  learn(sandbox: Sandbox, found: Provisioned): void;
  /** Lets its name have a new sandbox, empty, if the engine that has it does not answer. */
  giveUpLost(sandbox: Sandbox): Promise<void>;
}

const PROBE_MS = 2_000;

export function createLifecycle(ground: Ground, maker: Maker, warm: Warm): Lifecycle {
  const { provisioner, names } = ground;
  const ownership = createOwnership(ground);
  const { own, release, lock, taken } = ownership;
  const { claimWarm, createNew, commit, settle, find, closeAttached } = createClaims(ground, { maker, warm, ownership });

  function learn(sandbox: Sandbox, found: Provisioned): void {
    const facts = names.unseal(found.labels);
    if (facts === undefined) {
      const message = `There is a ${sandbox.name} at the engine that this fleet did not make, or made with another secret, so it is left alone. Remove it, or give the fleet its old secret.`;
      throw new GloveboxError("permission_denied", message, { retrySafe: true });
    }
    if (sandbox.id !== found.id) dropEnvironment(sandbox);
    sandbox.id = found.id;
    sandbox.volume = facts.volume;
    sandbox.spec = facts.spec;
    sandbox.state = found.state === "running" ? "ready" : found.state === "paused" ? "paused" : "stopped";
  }

  function forget(sandbox: Sandbox): void {
    dropEnvironment(sandbox);
    sandbox.id = undefined;
    sandbox.state = "none";
  }

  async function open(sandbox: Sandbox): Promise<Environment> {
    if (sandbox.environment !== undefined) return sandbox.environment;
    const environment = await openEnvironment(provisioner.target(sandbox.id ?? ""), { onEvent: ground.emit });
    attach(sandbox, environment);
    return environment;
  }

  /** From any state that has a container. Rejects as gone when it is not there after all. */
  async function wake(sandbox: Sandbox): Promise<Environment> {
    const { id = "" } = sandbox;
    // At an engine that is dead, looking tells what to do about that.
    if (sandbox.suspect || provisioner.several?.reaches(id) === false) await examine(sandbox);
    const started = ground.now();
    if (sandbox.state === "paused") {
      await provisioner.resume(id);
      sandbox.state = "ready";
      tell(ground, sandbox, "resumed", started);
    } else if (sandbox.state === "stopped") {
      dropEnvironment(sandbox);
      await maker.heavy(names.tenantOf(sandbox.name), () => provisioner.start(id));
      sandbox.state = "ready";
      tell(ground, sandbox, "started", started);
    }
    return await open(sandbox);
  }

  async function examine(sandbox: Sandbox): Promise<void> {
    const found = await provisioner.find(sandbox.name);
    if (found === undefined) throw new GloveboxError("gone", `The sandbox ${sandbox.name} is gone.`, { retrySafe: true });
    learn(sandbox, found);
    const { environment, state } = sandbox;
    if (environment === undefined) return;
    const answers = state === "ready" && (await attempt(settledBy(environment.stat(environment.cwd), { deadlineMs: PROBE_MS })));
    if (answers) sandbox.suspect = false;
    else dropEnvironment(sandbox);
  }

  async function named({ name }: Sandbox, mustBeNew: boolean): Promise<Provisioned> {
    if (mustBeNew) throw hasOne();
    const found = await find(name);
    if (found !== undefined) return found;
    const message = `Somebody else named a sandbox ${name}, and it is gone again. Try again.`;
    throw new GloveboxError("conflict", message, { retrySafe: true });
  }

  return {
    async bringUp(sandbox, options) {
      const { signal, config, copyOf } = options;
      if (copyOf !== undefined && sandbox.owned && sandbox.id !== undefined) throw hasOne();
      if (sandbox.owned && sandbox.id !== undefined) {
        try {
          return await wake(sandbox);
        } catch (error) {
          if (!isGone(error)) throw error;
          tell(ground, sandbox, "lost", undefined, messageOf(error));
          forget(sandbox);
        }
      }
      const isNew = !sandbox.owned && sandbox.state === "none" && config.prepare === undefined && copyOf === undefined;
      if (isNew && warm.size > 0) {
        await options.admit();
        if (await claimWarm(sandbox)) return await wake(sandbox);
      }
      await own(sandbox, signal, copyOf);
      try {
        const found = await find(sandbox.name);
        if (found !== undefined && copyOf !== undefined) throw hasOne();
        if (found !== undefined && found.state !== "gone") learn(sandbox, found);
        else if (!(await createNew(sandbox, options))) learn(sandbox, await named(sandbox, copyOf !== undefined));
        return await wake(sandbox);
      } catch (error) {
        if (sandbox.environment === undefined) {
          sandbox.state = "none";
          sandbox.id = undefined;
          await release(sandbox);
        }
        throw error;
      }
    },

    own,
    learn,

    async giveUpLost(sandbox) {
      if (!(await provisioner.several?.abandon(sandbox.name, names.search))) return;
      forget(sandbox);
      sandbox.owned = false;
      tell(ground, sandbox, "lost", undefined, "Its engine does not answer, and it is made anew at another, as was asked for.");
    },

    async adopt(sandbox, found) {
      if (!(await lock(sandbox.name))) return false;
      taken(sandbox);
      const now = await provisioner.find(sandbox.name);
      if (now?.id !== found.id) {
        await release(sandbox);
        return false;
      }
      learn(sandbox, now);
      tell(ground, sandbox, "adopted");
      if (sandbox.spec !== ground.settings.spec) {
        tell(ground, sandbox, "spec_changed", undefined, "It was made to an older spec, and is replaced when it is idle.");
      }
      return true;
    },

    async pause(sandbox) {
      const started = ground.now();
      await provisioner.pause(sandbox.id ?? "");
      sandbox.state = "paused";
      tell(ground, sandbox, "paused", started);
    },

    async stop(sandbox) {
      const started = ground.now();
      await maker.heavy(names.tenantOf(sandbox.name), () => provisioner.stop(sandbox.id ?? ""));
      dropEnvironment(sandbox);
      sandbox.state = "stopped";
      tell(ground, sandbox, "stopped", started);
    },

    async remove(sandbox) {
      const started = ground.now();
      const { id, volume } = sandbox;
      if (id !== undefined) {
        // From here on it is doomed, whoever finishes the work, and the user's name is free.
        await provisioner.rename(id, names.doomed()).catch((error: unknown) => {
          if (!isGone(error)) throw error;
        });
        sandbox.id = undefined;
        sandbox.state = "none";
        const removing = maker.heavy(names.tenantOf(sandbox.name), () => provisioner.remove(id));
        if (await attempt(removing)) if (volume !== "") await attempt(provisioner.removeVolume(volume));
        dropEnvironment(sandbox);
        tell(ground, sandbox, "removed", started);
      }
      await release(sandbox);
    },

    async yieldLock(sandbox) {
      const { environment, id, state } = sandbox;
      sandbox.environment = undefined;
      if (environment !== undefined && id !== undefined) await closeAttached({ id, environment }, state === "paused");
      await release(sandbox);
      sandbox.state = "none";
      sandbox.id = undefined;
      tell(ground, sandbox, "yielded");
    },

    async replace(sandbox, tenant) {
      const started = ground.now();
      const { id = "", volume } = sandbox;
      await provisioner.stop(id);
      dropEnvironment(sandbox);
      sandbox.state = "stopped";
      const made = await maker.make({ tenant, volume, near: sandbox.name });
      await provisioner.rename(id, names.replacedOf(sandbox.name));
      if (!(await commit(sandbox, made))) throw new GloveboxError("conflict", `${sandbox.name} is somebody else's now.`);
      settle(sandbox, made, "ready");
      await attempt(provisioner.remove(id));
      tell(ground, sandbox, "replaced", started);
    },
  };
}

function hasOne(): GloveboxError {
  return new GloveboxError("exists", "This user has a sandbox already. Destroy it first, or fork for another user.", { retrySafe: true });
}
