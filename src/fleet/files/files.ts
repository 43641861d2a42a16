import { GloveboxError } from "../../contract/errors.js";
import type { AcquireOptions } from "../acquiring.js";
import { attempt, type Ground } from "../ground.js";
import type { Lease } from "../lease.js";
import type { FleetUser } from "../names.js";
import type { Sandbox } from "../sandbox.js";
import type { Sizes } from "./size.js";
import type { Snapshot, Snapshots } from "./snapshot.js";

export interface FilesOptions {
  readonly tenant?: string;
  readonly deadlineMs?: number;
}

/** What goes into sandboxes and comes out of them, as a whole. */
export interface FleetFiles {
  /**
   * A tar of the user's workspace, made by the sandbox itself as its user: what is in it is the user's word. The sandbox is
   * woken and leased while it is read. Throws `not_found` where there is none, and at its end unless it is whole.
   */
  export(key: string, options?: FilesOptions): AsyncIterable<Uint8Array>;
  /** Bytes that the user's workspace takes, by the sandbox's own `du`, for which it is woken and leased. Rejects `not_found`. */
  size(key: string, options?: FilesOptions): Promise<number>;
  /**
   * Keeps the user's files as they are at one moment, and what he changed in his sandbox's system where that is writable.
   * What runs there stands still meanwhile, leased or not. Stays until it is removed, whatever becomes of the sandbox.
   * Rejects `not_found`, `busy` while another process has the sandbox, `unsupported` without volumes.
   */
  snapshot(key: string, options?: FilesOptions): Promise<Snapshot>;
  /** All of the fleet's, or one user's. */
  snapshots(of?: { readonly key: string; readonly tenant?: string }): Promise<readonly Snapshot[]>;
  /** Sandboxes made from it stay. Resolves to whether there was one. */
  removeSnapshot(id: string): Promise<boolean>;
  /** A new sandbox for another user of the tenant, with a copy of the first one's files. Rejects `exists` when he has one. */
  fork(fromKey: string, toKey: string, options?: FilesOptions): Promise<void>;
}

export interface FilesGround {
  readonly ground: Ground;
  readonly snapshots: Snapshots;
  readonly sizes: Sizes;
  /** What is known of the user's sandbox here. */
  known(name: string): Sandbox | undefined;
  userOf(key: string, tenant: string | undefined): FleetUser;
  onOwned(key: string, options: FilesOptions, work: (sandbox: Sandbox) => Promise<void>): Promise<boolean>;
  acquire(key: string, options: AcquireOptions): Promise<Lease>;
}

export function createFiles({ ground, snapshots, sizes, known, userOf, onOwned, acquire }: FilesGround): FleetFiles {
  const { provisioner, names } = ground;

  /** A lease on a sandbox that is there, for as long as something is read from it. */
  async function leaseOf(key: string, options: FilesOptions): Promise<{ readonly lease: Lease; readonly sandbox: Sandbox }> {
    const name = names.keyed(userOf(key, options.tenant));
    if ((await provisioner.find(name)) === undefined && known(name) === undefined) throw nothing();
    const lease = await acquire(key, options);
    const sandbox = known(name);
    if (sandbox !== undefined) return { lease, sandbox };
    await lease.release();
    throw nothing();
  }

  async function* exported(key: string, options: FilesOptions): AsyncGenerator<Uint8Array> {
    const { lease, sandbox } = await leaseOf(key, options);
    try {
      if (sandbox.id !== undefined) yield* await provisioner.export(sandbox.id);
    } finally {
      await lease.release();
    }
  }

  async function snapshot(key: string, options: FilesOptions = {}): Promise<Snapshot> {
    const taken: Snapshot[] = [];
    await onOwned(key, options, async (sandbox) => {
      if (sandbox.id !== undefined) taken.push(await snapshots.take(sandbox));
    });
    const [first] = taken;
    if (first === undefined) throw nothing();
    return first;
  }

  return {
    export: (key, options = {}) => exported(key, options),
    async size(key, options = {}) {
      const { lease, sandbox } = await leaseOf(key, options);
      try {
        // Past the user's own layers, which may refuse commands.
        return await sizes.measure(sandbox, sandbox.environment ?? lease.environment);
      } finally {
        await lease.release();
      }
    },
    snapshot,
    async snapshots(of) {
      const name = of === undefined ? undefined : names.keyed(userOf(of.key, of.tenant));
      return (await snapshots.list()).filter(({ sandbox }) => name === undefined || sandbox === name);
    },
    removeSnapshot: (id) => snapshots.remove(id),
    async fork(fromKey, toKey, options = {}) {
      const { id } = await snapshot(fromKey, options);
      try {
        await (await acquire(toKey, { ...options, from: id })).release();
      } finally {
        await attempt(snapshots.remove(id));
      }
    },
  };
}

function nothing(): GloveboxError {
  return new GloveboxError("not_found", "This user has no sandbox. Acquire it first.", { retrySafe: true });
}
