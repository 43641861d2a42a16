import type { Environment, Provisioned } from "../contract/target.js";
import { attempt, type Ground } from "./ground.js";
import type { Made, Maker } from "./make.js";
import type { UserConfig } from "./options.js";
import type { Ownership } from "./ownership.js";
import { attach, type Sandbox, type SandboxState, tell } from "./sandbox.js";
import type { Warm } from "./warm.js";

export interface BringUpOptions {
  readonly tenant: string;
  readonly config: UserConfig;
  /** The volume whose files a new one gets, instead of being prepared. There must be none yet. */
  readonly copyOf?: string | undefined;
  /** Fires when nobody waits any more. */
  readonly signal: AbortSignal;
  /** Rejects when there may not be one more. */
  admit(): Promise<void>;
}

/** How a sandbox that was made becomes a user's. */
export interface Claims {
  /** Takes lock and warm sandbox at once. Resolves to whether both were to be had; else it may own the lock alone. */
  claimWarm(sandbox: Sandbox): Promise<boolean>;
  /**
   * For one that is owned and has nothing at the engine. Resolves to false when somebody named one meanwhile: who claims a
   * warm sandbox does so beside asking for the lock. It is the user's then, and its owner's to run.
   */
  createNew(sandbox: Sandbox, options: BringUpOptions): Promise<boolean>;
  /** Gives what was made the sandbox's name. Resolves to false when somebody has it already. */
  commit(sandbox: Sandbox, made: Made): Promise<boolean>;
  settle(sandbox: Sandbox, made: Made, state: SandboxState): void;
  /** What bears the user's name, one whose replacement was never finished included. */
  find(name: string): Promise<Provisioned | undefined>;
  closeAttached(attached: { readonly id: string; readonly environment: Environment }, paused: boolean): Promise<void>;
}

export function createClaims(
  ground: Ground,
  { maker, warm, ownership }: { readonly maker: Maker; readonly warm: Warm; readonly ownership: Ownership },
): Claims {
  const { provisioner, names, settings } = ground;
  const { lock, taken } = ownership;

  /** Renaming is the moment at which it becomes the user's: resolves to false when the name is somebody's already. */
  async function commit(sandbox: Sandbox, made: Made): Promise<boolean> {
    try {
      await provisioner.rename(made.id, sandbox.name);
      return true;
    } catch (error) {
      const found = await provisioner.find(sandbox.name);
      if (found?.id === made.id) return true;
      if (found !== undefined) return false;
      throw error;
    }
  }

  function settle(sandbox: Sandbox, made: Made, state: SandboxState): void {
    maker.inUse.delete(made.name);
    maker.inUse.delete(made.volume);
    sandbox.id = made.id;
    sandbox.volume = made.volume;
    sandbox.spec = settings.spec;
    sandbox.state = state;
    attach(sandbox, made.environment);
  }

  /** The fast way for a new user: lock and rename side by side, for either alone is settled by the engine. */
  async function claimWarm(sandbox: Sandbox): Promise<boolean> {
    const spare = warm.take(sandbox.name);
    if (spare === undefined) return false;
    const started = ground.now();
    // The slowest first: the engine takes them up in this order.
    const [named, locked, older] = await Promise.allSettled([
      commit(sandbox, spare),
      lock(sandbox.name, spare.id),
      provisioner.find(names.replacedOf(sandbox.name)),
    ]);
    if (locked.status === "fulfilled" && locked.value) taken(sandbox);
    const isNamed = named.status === "fulfilled" && named.value;
    const isFirst = older.status === "fulfilled" && older.value === undefined;
    if (isNamed && isFirst && sandbox.owned) {
      settle(sandbox, spare, spare.paused ? "paused" : "ready");
      tell(ground, sandbox, "claimed", started);
      return true;
    }
    if (isNamed && isFirst) {
      // It is the user's now, and whoever has the lock will find it.
      maker.inUse.delete(spare.name);
      maker.inUse.delete(spare.volume);
      void closeAttached(spare, spare.paused);
    } else {
      await maker.scrap(spare);
    }
    if (locked.status === "rejected") throw locked.reason;
    return false;
  }

  async function find(name: string): Promise<Provisioned | undefined> {
    const found = await provisioner.find(name);
    if (found !== undefined) return found;
    const older = await provisioner.find(names.replacedOf(name));
    if (older === undefined) return undefined;
    await provisioner.rename(older.id, name);
    return await provisioner.find(name);
  }

  /** A connection says good-bye to its target, which a paused one does not answer. */
  async function closeAttached({ id, environment }: Pick<Made, "id" | "environment">, paused: boolean): Promise<void> {
    if (paused) await attempt(provisioner.resume(id));
    await attempt(environment.close());
  }

  async function createNew(sandbox: Sandbox, { tenant, config, copyOf, admit }: BringUpOptions): Promise<boolean> {
    await admit();
    const prepare = copyOf === undefined ? config.prepare : undefined;
    const spare = prepare === undefined && copyOf === undefined ? warm.take(sandbox.name) : undefined;
    const made: Made & { readonly paused?: boolean } = spare ?? (await maker.make({ tenant, prepare, copyOf, near: sandbox.name }));
    let isOurs: boolean;
    try {
      isOurs = await commit(sandbox, made);
    } catch (error) {
      await maker.scrap(made);
      throw error;
    }
    if (isOurs) settle(sandbox, made, made.paused ? "paused" : "ready");
    else await maker.scrap(made);
    return isOurs;
  }

  return { claimWarm, createNew, commit, settle, find, closeAttached };
}
