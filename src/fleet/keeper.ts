import { attempt, type Ground, messageOf } from "./ground.js";
import type { Lifecycle } from "./lifecycle.js";
import { eachOf } from "./reconcile.js";
import type { Sandbox } from "./sandbox.js";

/** How many sandboxes change their state at once. */
const AT_ONCE = 4;
/** After an act that failed. */
const RETRY_MS = 5_000;

export interface Keeper {
  /** Moves idle sandboxes one step on, where their time has come. Never rejects. */
  advance(sandboxes: Iterable<Sandbox>): Promise<void>;
  /** Lets go of idle sandboxes that another process asks for. Rejects when the engine cannot be asked. */
  grantWishes(sandboxes: ReadonlyMap<string, Sandbox>): Promise<void>;
}

export function createKeeper(ground: Ground, lifecycle: Lifecycle): Keeper {
  const { provisioner, names, settings } = ground;
  const notBefore = new WeakMap<Sandbox, number>();

  function isIdle({ owned, claims, inFlight, id }: Sandbox): boolean {
    return owned && claims === 0 && inFlight === 0 && id !== undefined && (provisioner.several?.reaches(id) ?? true);
  }

  function nextStep(sandbox: Sandbox): ((sandbox: Sandbox) => Promise<void>) | undefined {
    const { pauseAfterMs, stopAfterMs, removeAfterMs, lifetimeMs } = settings.clocks;
    const idleMs = ground.now() - sandbox.idleSinceMs;
    if (idleMs >= removeAfterMs || ground.now() - sandbox.ownedSinceMs >= lifetimeMs) return lifecycle.remove;
    if (idleMs >= pauseAfterMs && sandbox.spec !== settings.spec && settings.volumes) {
      return (changed) => lifecycle.replace(changed, names.tenantOf(changed.name));
    }
    if (idleMs >= stopAfterMs && sandbox.state !== "stopped") return lifecycle.stop;
    if (idleMs >= pauseAfterMs && sandbox.state === "ready") return lifecycle.pause;
    return undefined;
  }

  async function step(sandbox: Sandbox): Promise<void> {
    if (!isIdle(sandbox) || nextStep(sandbox) === undefined || ground.now() < (notBefore.get(sandbox) ?? Number.NEGATIVE_INFINITY)) return;
    await sandbox.turn(async () => {
      const act = isIdle(sandbox) ? nextStep(sandbox) : undefined;
      if (act === undefined) return;
      try {
        await act(sandbox);
      } catch (error) {
        notBefore.set(sandbox, ground.now() + RETRY_MS);
        ground.act("failed", sandbox.name, { ...sandbox.user, message: messageOf(error) });
      }
    });
  }

  return {
    advance: (sandboxes) => eachOf([...sandboxes], AT_ONCE, (sandbox) => attempt(step(sandbox))),
    async grantWishes(sandboxes) {
      if (![...sandboxes.values()].some(isIdle)) return;
      for (const { name, maker } of await provisioner.volumes(names.search)) {
        const sandbox = name.endsWith(".want") && maker !== "dead" ? sandboxes.get(name.slice(0, -".want".length)) : undefined;
        if (sandbox === undefined || !isIdle(sandbox)) continue;
        await sandbox.turn(async () => {
          if (isIdle(sandbox)) await lifecycle.yieldLock(sandbox);
        });
      }
    },
  };
}
