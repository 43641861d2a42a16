import { createEmitter } from "../contract/emitter.js";
import { GloveboxError } from "../contract/errors.js";
import { type AcquireOptions, createAcquiring, DEADLINE_MS } from "./acquiring.js";
import { createFiles, type FleetFiles } from "./files/files.js";
import { createSizes } from "./files/size.js";
import { createSnapshots } from "./files/snapshot.js";
import { gaugesOf } from "./gauges.js";
import { attempt, type Ground, messageOf } from "./ground.js";
import { createKeeper } from "./keeper.js";
import type { Lease } from "./lease.js";
import { createLifecycle } from "./lifecycle.js";
import { type ListedSandbox, listSandboxes } from "./listing.js";
import { createMaker } from "./make.js";
import { createMetrics } from "./metrics.js";
import { type FleetUser, fleetNames, SEAL_LABEL } from "./names.js";
import { type FleetOptions, fleetSettings, type UserConfig } from "./options.js";
import { settledBy } from "./patience.js";
import { eachOf, reconcile } from "./reconcile.js";
import { newSandbox, type Sandbox } from "./sandbox.js";
import { type Finding, survey } from "./survey.js";
import { createWarm } from "./warm.js";

export interface UserOptions {
  readonly tenant?: string;
  readonly deadlineMs?: number;
}

export interface Fleet extends FleetFiles, AsyncDisposable {
  /**
   * The user's sandbox: the same one for as long as it lives, made when there is none, woken when it sleeps. Rejects `busy`
   * (a cap, no memory left, in use by another process until the deadline), `disconnected` while it is lost, `timeout` past the deadline, `aborted`, `gone`
   * once the fleet drains, and what the engine and `prepare` reject with.
   */
  acquire(key: string, options?: AcquireOptions): Promise<Lease>;
  /** Removes the user's sandbox with its files; calls under way reject `gone`. Resolves to whether there was one. */
  destroy(key: string, options?: UserOptions): Promise<boolean>;
  /** Stops it, with its files kept; the next acquire starts it again. Rejects `busy` while it is leased. Resolves to whether there is one. */
  stop(key: string, options?: UserOptions): Promise<boolean>;
  /** All sandboxes of users at the engine. Of several engines, those at one that does not answer too: their state is "lost". */
  list(): Promise<readonly ListedSandbox[]>;
  /** What the next look at the engine would do, and why. Changes nothing. */
  survey(): Promise<readonly Finding[]>;
  /** A look at the engine now, instead of within `reconcileMs`. */
  reconcile(): Promise<readonly Finding[]>;
  /** Takes no more acquires and resolves when all leases are given back, or rejects when the signal fires. */
  drain(options?: { readonly signal?: AbortSignal }): Promise<void>;
  /** Ends at once: leases are cut, users' sandboxes left as they are, for whoever comes next. Idempotent. */
  close(): Promise<void>;
  /** Prometheus' text format. */
  metrics(): string;
}

/** Starts looking after a fleet's sandboxes at the provisioner's engine. Throws `invalid_argument` for options that cannot be. */
export function createFleet(options: FleetOptions): Fleet {
  const settings = fleetSettings(options);
  const names = fleetNames(options.id, options.secret);
  const { provisioner, config = (): UserConfig => ({}), now = () => performance.now() } = options;
  const attends = options.attend ?? true;
  const metrics = createMetrics(options.id);
  const emitter = createEmitter();
  if (options.onEvent !== undefined) emitter.onEvent(options.onEvent);
  const ground: Ground = {
    id: options.id,
    provisioner,
    names,
    settings,
    minimumFreeBytes: options.minimumFreeBytes ?? 0,
    now,
    emit: emitter.emit,
    act(act, sandbox, facts = {}) {
      metrics.countAct(act);
      emitter.emit({ type: "fleet_act", fleet: options.id, act, sandbox, ...facts });
    },
  };
  provisioner.several?.sealWith(options.id, (text) => names.seal({ spec: text, created: "", volume: "" })[SEAL_LABEL] ?? "");
  const maker = createMaker(ground);
  const warm = createWarm(ground, maker);
  const lifecycle = createLifecycle(ground, maker, warm);
  const keeper = createKeeper(ground, lifecycle);
  const snapshots = createSnapshots(ground, maker);
  const sizes = createSizes(ground);
  const all = new Map<string, Sandbox>();
  let known: ReadonlySet<string> = new Set();
  const foreign = new Set<string>();
  let engineIsLost = false;
  let lookedAtMs = Number.NEGATIVE_INFINITY;

  const sandboxes = {
    all,
    of(name: string): Sandbox {
      const sandbox = all.get(name) ?? newSandbox(name, now());
      all.set(name, sandbox);
      return sandbox;
    },
    tidy({ name, claims, owned, pending }: Sandbox): void {
      if (claims === 0 && pending === 0 && !owned) all.delete(name);
    },
  };
  const acquiring = createAcquiring(ground, {
    sandboxes,
    lifecycle,
    metrics,
    config,
    snapshots,
    checkWrite: sizes.checkWrite,
    ready: () => looking,
    known: () => known,
    onLeased: warm.refill,
  });

  function userOf(key: string, tenant = ""): FleetUser {
    if (typeof key !== "string" || key === "" || key.length > 1_024 || typeof tenant !== "string" || tenant.length > 1_024) {
      throw new GloveboxError(
        "invalid_argument",
        "A user's key is a text of 1 to 1,024 characters, and so is a tenant, which may be empty.",
      );
    }
    return { key, tenant };
  }

  /** Runs an act on a user's sandbox in its turn, owned. Resolves to false where there is none. */
  async function onOwned(
    key: string,
    { tenant, deadlineMs = DEADLINE_MS }: UserOptions,
    work: (sandbox: Sandbox) => Promise<void>,
  ): Promise<boolean> {
    const sandbox = sandboxes.of(names.keyed(userOf(key, tenant)));
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), deadlineMs);
    try {
      return await sandbox.turn(async () => {
        const found = await provisioner.find(sandbox.name);
        if (found === undefined && !sandbox.owned) return false;
        await lifecycle.own(sandbox, controller.signal).catch((error: unknown) => {
          if (!controller.signal.aborted) throw error;
          throw new GloveboxError("busy", `Another process has this sandbox in use. Try again when it is done.`, {
            retrySafe: true,
            cause: error,
          });
        });
        const now = await provisioner.find(sandbox.name);
        if (now !== undefined) lifecycle.learn(sandbox, now);
        await work(sandbox);
        return now !== undefined;
      });
    } finally {
      clearTimeout(timer);
      sandboxes.tidy(sandbox);
    }
  }

  async function look(): Promise<readonly Finding[]> {
    const found = await reconcile(ground, { maker, warm, lifecycle, sandboxes, adopts: attends });
    known = new Set(found.sandboxes.map(({ name }) => name).filter((name) => names.kindOf(name) === "keyed"));
    if (attends && provisioner.several !== undefined) await letGoOfMoved(await provisioner.several.tend(names.search));
    for (const { name, verdict, why } of found.findings) if (verdict === "foreign" && !foreign.has(name)) report(name, why);
    return found.findings;
  }

  /** Their users have newer sandboxes at other engines. */
  async function letGoOfMoved(moved: readonly string[]): Promise<void> {
    await eachOf([...all.values()], 4, async (sandbox) => {
      if (!moved.includes(sandbox.name)) return;
      await sandbox.turn(async () => {
        if (sandbox.owned && sandbox.claims === 0) await lifecycle.yieldLock(sandbox);
      });
    });
  }

  function report(name: string, why: string): void {
    foreign.add(name);
    ground.act("foreign", name, { message: `Left alone: ${why}.` });
  }

  /** The engine's state as far as anyone has told: events once for each change. */
  async function withEngine(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
      if (engineIsLost) ground.act("engine_restored", "");
      engineIsLost = false;
    } catch (error) {
      if (!engineIsLost) ground.act("engine_lost", "", { message: messageOf(error) });
      engineIsLost = true;
    }
  }

  async function tick(): Promise<void> {
    await withEngine(async () => {
      if (now() - lookedAtMs >= settings.clocks.reconcileMs) {
        lookedAtMs = now();
        await look();
      }
      await keeper.grantWishes(all);
    });
    if (engineIsLost) return;
    await keeper.advance(all.values());
    void sizes.tend(all.values());
    warm.refill();
  }

  let ticking: Promise<void> | undefined;
  const startTick = (): Promise<void> => {
    ticking ??= tick().finally(() => {
      ticking = undefined;
    });
    return ticking;
  };
  const timer = attends ? setInterval(() => void startTick(), settings.clocks.tickMs) : undefined;
  timer?.unref();
  // Nobody is served before the first look, so that what a dead process left is found and not made again.
  const looking = attends ? startTick() : Promise.resolve();

  const unwatch = provisioner.several?.onHealth((act, message) => ground.act(act, "", { message }));
  async function acquire(key: string, acquireOptions: AcquireOptions = {}): Promise<Lease> {
    return await acquiring.acquire(userOf(key, acquireOptions.tenant), acquireOptions);
  }

  let closing: Promise<void> | undefined;
  async function closeNow(): Promise<void> {
    acquiring.refuse(ended("closed"));
    clearInterval(timer);
    unwatch?.();
    await acquiring.settled();
    await ticking;
    await warm.close();
    await eachOf([...all.values()], 4, (sandbox) =>
      attempt(
        sandbox.turn(async () => {
          if (sandbox.owned) await lifecycle.yieldLock(sandbox);
        }),
      ),
    );
    all.clear();
  }

  const close = (): Promise<void> => {
    closing ??= closeNow();
    return closing;
  };

  return {
    acquire,
    async destroy(key, userOptions = {}) {
      return await onOwned(key, userOptions, async (sandbox) => {
        await lifecycle.remove(sandbox);
        known = new Set([...known].filter((name) => name !== sandbox.name));
      });
    },
    async stop(key, userOptions = {}) {
      return await onOwned(key, userOptions, async (sandbox) => {
        if (sandbox.claims > 0)
          throw new GloveboxError("busy", "This sandbox is leased. Give its leases back first, or destroy it.", { retrySafe: true });
        if (sandbox.id !== undefined && sandbox.state !== "stopped") await lifecycle.stop(sandbox);
      });
    },
    async list() {
      return await listSandboxes(ground, maker.inUse, all);
    },
    async survey() {
      const owned = new Set([...all.values()].filter((sandbox) => sandbox.owned).map(({ name }) => name));
      return (await survey(provisioner, names, { has: (name) => maker.inUse.has(name) || owned.has(name) })).findings;
    },
    reconcile: look,
    async drain({ signal } = {}) {
      acquiring.refuse(ended("draining"));
      await settledBy(acquiring.empty(), { signal });
    },
    close,
    [Symbol.asyncDispose]: close,
    ...createFiles({ ground, snapshots, sizes, known: (name) => all.get(name), userOf, onOwned, acquire }),
    metrics: () =>
      metrics.text(
        gaugesOf(all.values(), { known: known.size, acquiring, warm: warm.size, engineIsLost, engines: provisioner.several?.health() }),
      ),
  };
}

function ended(how: string): GloveboxError {
  return new GloveboxError("gone", `The fleet is ${how} and takes no more acquires. Ask another process, or create a new fleet.`, {
    retrySafe: true,
  });
}
