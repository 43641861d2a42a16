import { GloveboxError } from "../contract/errors.js";
import type { Environment } from "../contract/target.js";
import { openEnvironment } from "../environment.js";
import { attempt, type Ground, messageOf } from "./ground.js";
import { createLine } from "./line.js";
import type { UserConfig } from "./options.js";

/** A sandbox that runs, with its lanes attached, and is nobody's yet. */
export interface Made {
  readonly id: string;
  readonly name: string;
  readonly volume: string;
  readonly environment: Environment;
}

export interface MakeOptions {
  readonly tenant: string;
  readonly prepare?: UserConfig["prepare"];
  /** A volume that is there already. */
  readonly volume?: string;
  /** A volume whose files a new one gets. */
  readonly copyOf?: string | undefined;
  /** The name that it is to get. */
  readonly near?: string;
}

export interface Maker {
  /** Rejects what the engine or `prepare` reject with; nothing stays behind then. */
  make(options: MakeOptions): Promise<Made>;
  /** Removes one that nobody got. Never rejects: what is left is found later. */
  scrap(made: Made): Promise<void>;
  /** Does what is hard work for the engine (start, stop, remove), no more at once than sandboxes are made. */
  heavy<Result>(tenant: string, work: () => Promise<Result>): Promise<Result>;
  /** Being made, or kept for someone, by this process: names and volumes that look ownerless and are not. */
  readonly inUse: Set<string>;
}

const UNLIMITED = Number.POSITIVE_INFINITY;

export function createMaker(ground: Ground): Maker {
  const { provisioner, names, settings } = ground;
  const gate = createLine(
    { places: settings.caps.creating, placesPerTenant: settings.caps.creating, waiting: UNLIMITED, waitingPerTenant: UNLIMITED },
    "a sandbox to be made",
  );
  const inUse = new Set<string>();

  async function checkRoom(): Promise<void> {
    if (ground.minimumFreeBytes <= 0) return;
    const freeBytes = await provisioner.freeMemoryBytes();
    if (freeBytes === undefined || freeBytes >= ground.minimumFreeBytes) return;
    const message = `The engine's machine has ${freeBytes} bytes of memory left, and the fleet keeps ${ground.minimumFreeBytes} free (minimumFreeBytes). Try again later, remove idle sandboxes, or lower it.`;
    throw new GloveboxError("busy", message, { retrySafe: true, details: { freeBytes, minimumFreeBytes: ground.minimumFreeBytes } });
  }

  async function make({ tenant, prepare, volume: given, copyOf, near }: MakeOptions): Promise<Made> {
    const leave = await gate.enter(tenant);
    const started = ground.now();
    const name = names.spare();
    const volume = given ?? (settings.volumes ? names.volume() : "");
    inUse.add(name);
    if (given === undefined && volume !== "") inUse.add(volume);
    let id: string | undefined;
    let environment: Environment | undefined;
    const giveUp = new AbortController();
    try {
      await checkRoom();
      const labels = names.seal({ spec: settings.spec, created: new Date().toISOString(), volume });
      if (copyOf !== undefined) await provisioner.copyVolume?.({ from: copyOf, to: volume, labels });
      ({ id } = await provisioner.create({ name, labels, ...(volume === "" ? {} : { volume }), ...(near === undefined ? {} : { near }) }));
      environment = await openEnvironment(provisioner.target(id), { onEvent: ground.emit });
      await prepare?.(environment, { signal: giveUp.signal });
      ground.act("created", name, { durationMs: ground.now() - started });
      return { id, name, volume, environment };
    } catch (error) {
      giveUp.abort();
      ground.act("failed", name, { message: messageOf(error) });
      await discard({ id, name, volume: given === undefined ? volume : "", environment });
      throw error;
    } finally {
      leave();
    }
  }

  async function discard({ id, name, volume, environment }: Partial<Made> & { readonly name: string }): Promise<void> {
    let found = id;
    // An answer can be lost after the thing was made.
    if (found === undefined) await attempt(provisioner.find(name).then((one) => (found = one?.id)));
    if (found !== undefined) await attempt(provisioner.remove(found));
    if (volume) await attempt(provisioner.removeVolume(volume));
    inUse.delete(name);
    if (volume) inUse.delete(volume);
    if (environment !== undefined) await attempt(environment.close());
  }

  async function heavy<Result>(tenant: string, work: () => Promise<Result>): Promise<Result> {
    const leave = await gate.enter(tenant);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  return { make, scrap: discard, heavy, inUse };
}
