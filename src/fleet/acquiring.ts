import { abortError, GloveboxError } from "../contract/errors.js";
import type { Environment } from "../contract/target.js";
import type { Snapshots } from "./files/snapshot.js";
import type { Ground } from "./ground.js";
import { createLease, type Lease } from "./lease.js";
import type { Lifecycle } from "./lifecycle.js";
import { createLine } from "./line.js";
import type { FleetMetrics } from "./metrics.js";
import type { FleetUser } from "./names.js";
import type { UserConfig } from "./options.js";
import { settledBy } from "./patience.js";
import type { Sandboxes } from "./reconcile.js";
import type { Sandbox } from "./sandbox.js";

export interface AcquireOptions {
  readonly tenant?: string;
  readonly signal?: AbortSignal;
  /** The acquire settles by then. Default 60,000. */
  readonly deadlineMs?: number;
  /**
   * Makes a new sandbox, empty, at another engine when the one that has the user's does not answer: else that is refused,
   * `disconnected`. When it answers again the new one stays the user's, and the older is reported and left alone. Default false.
   */
  readonly recreateLost?: boolean;
  /** A snapshot's id: the sandbox is made from it, and not prepared. Rejects `exists` when there is one already, `not_found`. */
  readonly from?: string;
}

export interface AcquiringOptions {
  readonly sandboxes: Sandboxes;
  readonly lifecycle: Lifecycle;
  readonly metrics: FleetMetrics;
  config(user: FleetUser): UserConfig;
  readonly snapshots: Pick<Snapshots, "volumeFor">;
  checkWrite(sandbox: Sandbox): Promise<void>;
  /** Resolves when the engine was looked at for the first time. */
  ready(): Promise<unknown>;
  /** What can wait until somebody was served. */
  onLeased(): void;
  /** Names of the users' sandboxes at the engine, as of the last look. */
  known(): ReadonlySet<string>;
}

export interface Acquiring {
  acquire(user: FleetUser, options: AcquireOptions): Promise<Lease>;
  /** Rejects those who wait with that error, and everyone who comes. */
  refuse(error: GloveboxError): void;
  /** Resolves when no lease is out and no acquire under way. */
  empty(): Promise<void>;
  /** Resolves when no sandbox is being brought up any more; gives up those that wait for another process. */
  settled(): Promise<void>;
  readonly active: number;
  readonly waiting: number;
}

export const DEADLINE_MS = 60_000;

/** One bringing up, for all who ask meanwhile. */
interface Opening {
  readonly promise: Promise<Environment>;
  readonly controller: AbortController;
}

interface BringingUp {
  readonly sandbox: Sandbox;
  readonly user: FleetUser;
  readonly from: string | undefined;
  readonly signal: AbortSignal;
}

export function createAcquiring(ground: Ground, options: AcquiringOptions): Acquiring {
  const { sandboxes, lifecycle, metrics, config } = options;
  const { names, now } = ground;
  const { caps } = ground.settings;
  const line = createLine(
    { places: caps.active, placesPerTenant: caps.activePerTenant, waiting: caps.waiting, waitingPerTenant: caps.waitingPerTenant },
    "a sandbox to become free",
  );
  const openings = new Map<Sandbox, Opening>();
  const places = new Map<Sandbox, () => void>();
  /** Let in, and not there yet. */
  const admitted = new Set<string>();
  const onEmpty = new Set<() => void>();
  let refusal: GloveboxError | undefined;

  async function admit({ name }: Sandbox): Promise<void> {
    const owned = [...sandboxes.all.values()].filter((one) => one.owned && one.id !== undefined).map((one) => one.name);
    const taken = new Set([...options.known(), ...owned, ...admitted]);
    taken.delete(name);
    const ofTenant = [...taken].filter((other) => names.tenantOf(other) === names.tenantOf(name)).length;
    const full = taken.size >= caps.total ? "total" : ofTenant >= caps.totalPerTenant ? "totalPerTenant" : undefined;
    if (full !== undefined) {
      const count = full === "total" ? `${taken.size} sandboxes` : `${ofTenant} sandboxes of this tenant`;
      const message = `The fleet is full: there are ${count} (caps.${full}). Destroy some, let idle ones go sooner (clocks.removeAfterMs), or raise the cap.`;
      throw new GloveboxError("busy", message, { retrySafe: true, details: { cap: full } });
    }
    admitted.add(name);
  }

  function open(sandbox: Sandbox, user: FleetUser, from: string | undefined): Opening {
    const before = openings.get(sandbox);
    if (before !== undefined && !before.controller.signal.aborted) {
      if (from === undefined) return before;
      throw new GloveboxError("exists", "This user's sandbox is being brought up already. Fork for another user.", { retrySafe: true });
    }
    const controller = new AbortController();
    const opening = { controller, promise: bringUp({ sandbox, user, from, signal: controller.signal }, before) };
    openings.set(sandbox, opening);
    const done = (): void => {
      if (openings.get(sandbox) !== opening) return;
      openings.delete(sandbox);
      leaveIfUnclaimed(sandbox);
    };
    opening.promise.then(done, done);
    return opening;
  }

  async function bringUp({ sandbox, user, from, signal }: BringingUp, before: Opening | undefined): Promise<Environment> {
    // One that was given up still has to come to its end.
    await before?.promise.catch(() => undefined);
    if (!places.has(sandbox)) places.set(sandbox, await line.enter(user.tenant, signal));
    await options.ready();
    const copyOf = from === undefined ? undefined : await options.snapshots.volumeFor(from, sandbox.name);
    try {
      return await sandbox.turn(() =>
        lifecycle.bringUp(sandbox, { tenant: user.tenant, config: config(user), copyOf, signal, admit: () => admit(sandbox) }),
      );
    } finally {
      admitted.delete(sandbox.name);
    }
  }

  function leaveIfUnclaimed(sandbox: Sandbox): void {
    if (sandbox.claims > 0 || openings.has(sandbox)) return;
    sandbox.idleSinceMs = now();
    places.get(sandbox)?.();
    places.delete(sandbox);
    sandboxes.tidy(sandbox);
    if (onEmpty.size > 0 && isEmpty()) for (const done of onEmpty) done();
  }

  function isEmpty(): boolean {
    return openings.size === 0 && [...sandboxes.all.values()].every(({ claims }) => claims === 0);
  }

  function unclaim(sandbox: Sandbox): void {
    sandbox.claims -= 1;
    if (sandbox.claims === 0) openings.get(sandbox)?.controller.abort();
    leaveIfUnclaimed(sandbox);
  }

  function claim(user: FleetUser): Sandbox {
    const sandbox = sandboxes.of(names.keyed(user));
    if (sandbox.claims >= caps.leasesPerUser) {
      const message = `This user has ${sandbox.claims} leases already (caps.leasesPerUser). Give one back first, or raise the cap.`;
      throw new GloveboxError("busy", message, { retrySafe: true, details: { cap: "leasesPerUser" } });
    }
    sandbox.user = user;
    sandbox.claims += 1;
    return sandbox;
  }

  async function giveUpLost(sandbox: Sandbox): Promise<void> {
    await options.ready();
    // One under way would fail for all who join it.
    await openings.get(sandbox)?.promise.catch(() => undefined);
    await sandbox.turn(() => lifecycle.giveUpLost(sandbox));
  }

  async function leaseOf(
    user: FleetUser,
    { signal, deadlineMs = DEADLINE_MS, recreateLost = false, from }: AcquireOptions,
  ): Promise<Lease> {
    if (refusal !== undefined) throw refusal;
    if (signal?.aborted) throw abortError(signal, { retrySafe: true });
    const sandbox = claim(user);
    try {
      if (recreateLost) await settledBy(giveUpLost(sandbox), { signal, deadlineMs, waits: () => "its engine is asked once more" });
      const environment = await settledBy(open(sandbox, user, from).promise, { signal, deadlineMs, waits: () => whatItWaitsFor(sandbox) });
      const onRelease = (): void => {
        ground.act("released", sandbox.name, user);
        unclaim(sandbox);
      };
      return createLease({
        user,
        sandbox,
        environment,
        layers: config(user).layers ?? [],
        now,
        onRelease,
        checkWrite: () => options.checkWrite(sandbox),
      });
    } catch (error) {
      unclaim(sandbox);
      throw error;
    }
  }

  function whatItWaitsFor(sandbox: Sandbox): string {
    if (!places.has(sandbox)) return `${line.waiting} users wait for one of ${caps.active} places (caps.active)`;
    return sandbox.owned ? "its sandbox is not ready" : "another process may have its sandbox in use, or the engine is slow";
  }

  return {
    async acquire(user, acquireOptions) {
      const started = performance.now();
      try {
        const lease = await leaseOf(user, acquireOptions);
        const durationMs = performance.now() - started;
        metrics.countAcquire("ok", durationMs);
        ground.act("leased", lease.sandbox, { ...user, durationMs });
        options.onLeased();
        return lease;
      } catch (error) {
        metrics.countAcquire(error instanceof GloveboxError ? error.code : "unexpected", performance.now() - started);
        throw error;
      }
    },
    refuse(error) {
      refusal ??= error;
      line.refuseAll(refusal);
    },
    async empty() {
      if (isEmpty()) return;
      let done = (): void => undefined;
      await new Promise<void>((resolve) => {
        done = resolve;
        onEmpty.add(done);
      });
      onEmpty.delete(done);
    },
    async settled() {
      for (const { controller } of openings.values()) controller.abort();
      await Promise.allSettled([...openings.values()].map(({ promise }) => promise));
    },
    get active() {
      return line.held;
    },
    get waiting() {
      return line.waiting;
    },
  };
}
