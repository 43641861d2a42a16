import { GloveboxError } from "../../contract/errors.js";
import type { SharedProvisioner } from "../../contract/target.js";
import { attempt, type Ground } from "../ground.js";
import type { Maker } from "../make.js";
import type { Sandbox } from "../sandbox.js";

export interface Snapshot {
  readonly id: string;
  /** The sandbox that it was taken of. */
  readonly sandbox: string;
  /** Milliseconds since the epoch, by the clock of whoever took it. */
  readonly createdMs: number;
}

/*
 * A snapshot is two volumes: the copy, and, made when that is whole, an empty one whose sealed labels name it. Before that the
 * copy is nobody's, like a volume whose sandbox was never finished, and is removed as such.
 */
export interface Snapshots {
  /** To be called in the sandbox's turn, owned. What runs in it stands still meanwhile. */
  take(sandbox: Sandbox): Promise<Snapshot>;
  list(): Promise<readonly Snapshot[]>;
  /** Resolves to whether there was one. */
  remove(id: string): Promise<boolean>;
  /** The volume to copy for a new sandbox of that name. Rejects `not_found`, and `permission_denied` for another tenant's. */
  volumeFor(id: string, name: string): Promise<string>;
}

export function createSnapshots(ground: Ground, maker: Maker): Snapshots {
  const { provisioner, names, settings } = ground;

  async function take(sandbox: Sandbox): Promise<Snapshot> {
    const { id, volume, state } = sandbox;
    const copy = copier(provisioner);
    if (id === undefined || volume === "") {
      throw new GloveboxError("unsupported", "This sandbox has no volume to copy: its files end with it. Let the fleet have volumes.");
    }
    const name = names.snapshotOf(sandbox.name);
    const data = names.volume();
    const created = new Date().toISOString();
    maker.inUse.add(data);
    try {
      const labels = names.seal({ spec: settings.spec, created, volume: data });
      await standingStill(sandbox, id, state === "ready", () => copy({ from: volume, to: data, labels, systemOf: id }));
      await copy({ to: name, labels: names.seal({ spec: name, created, volume: data }) });
    } catch (error) {
      await attempt(provisioner.removeVolume(data));
      throw error;
    } finally {
      maker.inUse.delete(data);
    }
    return { id: name, sandbox: sandbox.name, createdMs: Date.parse(created) };
  }

  async function standingStill(sandbox: Sandbox, id: string, runs: boolean, work: () => Promise<void>): Promise<void> {
    if (!runs) return await work();
    await provisioner.pause(id);
    try {
      await work();
    } finally {
      // If it cannot be woken now, it is looked at before its next use.
      if (!(await attempt(provisioner.resume(id)))) sandbox.suspect = true;
    }
  }

  /** The volume of each snapshot, by its id. */
  async function all(): Promise<ReadonlyMap<string, { readonly volume: string; readonly createdMs: number }>> {
    const found = await provisioner.volumes(names.search);
    return new Map(
      found.flatMap(({ name, labels }) => {
        const facts = names.kindOf(name) === "snapshot" ? names.unseal(labels) : undefined;
        return facts?.spec === name ? [[name, { volume: facts.volume, createdMs: Date.parse(facts.created) }]] : [];
      }),
    );
  }

  return {
    take,
    async list() {
      return [...(await all())].map(([id, { createdMs }]) => ({ id, sandbox: names.sandboxOfSnapshot(id), createdMs }));
    },
    async remove(id) {
      const found = (await all()).get(id);
      if (found === undefined) return false;
      await provisioner.removeVolume(id);
      await attempt(provisioner.removeVolume(found.volume));
      return true;
    },
    async volumeFor(id, name) {
      copier(provisioner);
      const found = (await all()).get(id);
      if (found === undefined)
        throw new GloveboxError("not_found", "There is no such snapshot. snapshots() lists them.", { retrySafe: true });
      if (names.tenantOf(id) === names.tenantOf(name)) return found.volume;
      throw new GloveboxError("permission_denied", "This snapshot is another tenant's. Fork it for a user of the same tenant.", {
        retrySafe: true,
      });
    },
  };
}

function copier(provisioner: SharedProvisioner): NonNullable<SharedProvisioner["copyVolume"]> {
  if (provisioner.copyVolume !== undefined) return provisioner.copyVolume;
  throw new GloveboxError(
    "unsupported",
    "This provisioner copies no volumes, so there are no snapshots. Export the sandbox, and seed another with that.",
  );
}
