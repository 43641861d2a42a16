import { createEmitter } from "../contract/emitter.js";
import { GloveboxError } from "../contract/errors.js";
import { type AcquireOptions, createAcquiring, DEADLINE_MS } from "./acquiring.js";
import { gaugesOf } from "./gauges.js";
import { attempt, type Ground, messageOf } from "./ground.js";
import { createKeeper } from "./keeper.js";
import type { Lease } from "./lease.js";
import { createLifecycle } from "./lifecycle.js";
import { createMaker } from "./make.js";
import { createMetrics } from "./metrics.js";
import { type FleetUser, fleetNames } from "./names.js";
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

export interface ListedSandbox {
  readonly name: string;
  /** Known for users who asked this process. */
  readonly user?: FleetUser;
  readonly state: string;
  /** "this" process, an "other" one that lives, "nobody". */
  readonly owner: "this" | "other" | "nobody";
  readonly leases: number;
  /** Where this process owns it. */
  readonly idleMs?: number;
  readonly createdMs: number;
}

export interface Fleet extends AsyncDisposable {
  /**
   * The user's sandbox: the same one for as long as it lives, made when there is none, woken when it sleeps. Rejects `busy`
   * (a cap, no memory left, in use by another process until the deadline), `timeout` past the deadline, `aborted`, `gone`
   * once the fleet drains, and what the engine and `prepare` reject with.
   */
  acquire(key: string, options?: AcquireOptions): Promise<Lease>;
  /** Removes the user's sandbox with its files; calls under way reject `gone`. Resolves to whether there was one. */
  destroy(key: string, options?: UserOptions): Promise<boolean>;
  /** Stops it, with its files kept; the next acquire starts it again. Rejects `busy` while it is leased. Resolves to whether there is one. */
  stop(key: string, options?: UserOptions): Promise<boolean>;
  /** All sandboxes of users at the engine. */
  list(): Promise<readonly ListedSandbox[]>;
  /** What the next look at the engine would do, and why. Changes nothing. */
  survey(): Promise<readonly Finding[]>;
  /** A look at the engine now, instead of within `reconcileMs`. */
  reconcile(): Promise<readonly Finding[]>;
  /**
   * A tar of the user's workspace, made by the sandbox itself as its user: what is in it is the user's word. The sandbox is
   * woken and leased while it is read. Throws `not_found` where there is none, and at its end unless it is whole.
   */
  export(key: string, options?: UserOptions): AsyncIterable<Uint8Array>;
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
  const maker = createMaker(ground);
  const warm = createWarm(ground, maker);
  const lifecycle = createLifecycle(ground, maker, warm);
  const keeper = createKeeper(ground, lifecycle);
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
    for (const { name, verdict, why } of found.findings) if (verdict === "foreign" && !foreign.has(name)) report(name, why);
    return found.findings;
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

  let closing: Promise<void> | undefined;
  async function closeNow(): Promise<void> {
    acquiring.refuse(ended("closed"));
    clearInterval(timer);
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
    async acquire(key, acquireOptions = {}) {
      return await acquiring.acquire(userOf(key, acquireOptions.tenant), acquireOptions);
    },
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
      const { findings } = await survey(provisioner, names, maker.inUse);
      return findings.flatMap(({ name, verdict, sandbox: found }) => {
        if (found === undefined || names.kindOf(name) !== "keyed" || verdict === "foreign") return [];
        const sandbox = all.get(name);
        const owner = sandbox?.owned ? "this" : verdict === "keep" ? "other" : "nobody";
        const own = sandbox?.owned && sandbox.claims === 0 ? { idleMs: now() - sandbox.idleSinceMs } : {};
        const user = sandbox?.user === undefined ? {} : { user: sandbox.user };
        return [{ name, ...user, state: found.state, owner, leases: sandbox?.claims ?? 0, ...own, createdMs: found.createdMs } as const];
      });
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
    export: (key, userOptions = {}) => exportWorkspace(userOf(key, userOptions.tenant), userOptions),
    metrics: () => metrics.text(gaugesOf(all.values(), { known: known.size, acquiring, warm: warm.size, engineIsLost })),
  };

  async function* exportWorkspace(user: FleetUser, { deadlineMs }: UserOptions): AsyncGenerator<Uint8Array> {
    const name = names.keyed(user);
    if ((await provisioner.find(name)) === undefined && !all.has(name)) {
      throw new GloveboxError("not_found", "This user has no sandbox to export.", { retrySafe: true });
    }
    // Leased as long as the stream is read, so that nothing pauses it on the way.
    await using _lease = await acquiring.acquire(user, deadlineMs === undefined ? {} : { deadlineMs });
    const { id } = sandboxes.of(name);
    if (id !== undefined) yield* await provisioner.export(id);
  }
}

function ended(how: string): GloveboxError {
  return new GloveboxError("gone", `The fleet is ${how} and takes no more acquires. Ask another process, or create a new fleet.`, {
    retrySafe: true,
  });
}
