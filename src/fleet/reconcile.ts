import { attempt, type Ground, messageOf } from "./ground.js";
import type { Lifecycle } from "./lifecycle.js";
import type { Maker } from "./make.js";
import type { Sandbox } from "./sandbox.js";
import { type Finding, type Survey, survey } from "./survey.js";
import type { Warm } from "./warm.js";

export interface Sandboxes {
  readonly all: Map<string, Sandbox>;
  /** The one of that name, made known if it is not. */
  of(name: string): Sandbox;
  /** Forgets it unless it means something. */
  tidy(sandbox: Sandbox): void;
}

export interface ReconcileOptions {
  readonly maker: Maker;
  readonly warm: Warm;
  readonly lifecycle: Lifecycle;
  readonly sandboxes: Sandboxes;
  /** False: what nobody owns stays so. */
  readonly adopts: boolean;
}

/** How many things are put right at once. */
const AT_ONCE = 8;

/**
 * Looks at the engine and puts right what it finds: adopts what nobody owns, finishes what dead processes began, and learns
 * what others did to what this process has. Rejects when the engine cannot be asked; single failures wait for the next time.
 */
export async function reconcile(ground: Ground, { maker, warm, lifecycle, sandboxes, adopts }: ReconcileOptions): Promise<Survey> {
  const { provisioner, names } = ground;
  const before = new Set(maker.inUse);
  const isOwned = (name: string): boolean => sandboxes.all.get(name)?.owned === true;
  const isInUse = (name: string): boolean => before.has(name) || maker.inUse.has(name) || isOwned(name.replace(/(\.want|\.break)+$/, ""));
  const seen = await survey(provisioner, names, { has: isInUse });
  const present = new Set(seen.sandboxes.map(({ name }) => name));

  for (const name of warm.names) if (before.has(name) && !present.has(name)) warm.forget(name);
  await eachOf(seen.findings, AT_ONCE, async (finding) => {
    try {
      await putRight(finding);
    } catch (error) {
      ground.act("failed", finding.name, { message: messageOf(error) });
    }
  });
  const gone = [...sandboxes.all.values()].filter(({ name, owned, id }) => owned && id !== undefined && !present.has(name));
  await eachOf(gone, AT_ONCE, (sandbox) => attempt(lookAgain(sandbox)));
  return seen;

  async function putRight({ what, name, verdict, sandbox: found }: Finding): Promise<void> {
    if (what === "lock") return verdict === "unlock" ? await clearLock(name) : undefined;
    if (what === "volume") return verdict === "remove" ? await removeVolume(name) : undefined;
    if (found === undefined) return;
    if (verdict === "adopt" && !isOwned(name)) return adopts ? await adopt(name, found) : undefined;
    if (verdict === "remove") return await removeSandbox(name, found.id);
    if (verdict === "restore") return await restore(name, found.id);
    const sandbox = sandboxes.all.get(name);
    if (sandbox?.owned && (sandbox.id !== found.id || differs(sandbox, found.state))) await lookAgain(sandbox);
  }

  async function adopt(name: string, found: NonNullable<Finding["sandbox"]>): Promise<void> {
    const sandbox = sandboxes.of(name);
    await sandbox.turn(async () => {
      if (!sandbox.owned) await lifecycle.adopt(sandbox, found);
    });
    sandboxes.tidy(sandbox);
  }

  /** Only what still bears the name that condemned it. */
  async function removeSandbox(name: string, id: string): Promise<void> {
    const found = await provisioner.find(name);
    if (found?.id !== id || maker.inUse.has(name)) return;
    const volume = names.unseal(found.labels)?.volume ?? "";
    await provisioner.remove(id);
    // Refused while another sandbox has it, which is how a replaced one leaves its files to the newer.
    if (volume !== "") await attempt(provisioner.removeVolume(volume));
    ground.act("reclaimed", name);
  }

  async function removeVolume(name: string): Promise<void> {
    if (maker.inUse.has(name) || (await isOfSnapshot(name)) || !(await attempt(provisioner.removeVolume(name)))) return;
    ground.act("reclaimed", name);
  }

  /** A snapshot may have been finished after the volumes were listed, and unlike a container it does not hold what it names. */
  async function isOfSnapshot(volume: string): Promise<boolean> {
    const volumes = await provisioner.volumes(names.search);
    return volumes.some(
      ({ name, labels }) => names.kindOf(name) === "snapshot" && name !== volume && names.unseal(labels)?.volume === volume,
    );
  }

  async function restore(name: string, id: string): Promise<void> {
    const sandbox = sandboxes.of(names.keyedOf(name));
    await sandbox.turn(async () => {
      if (sandbox.owned || !(await provisioner.lock(sandbox.name, names.search))) return;
      if (await attempt(provisioner.rename(id, sandbox.name))) ground.act("restored", sandbox.name);
      await provisioner.unlock(sandbox.name);
    });
    sandboxes.tidy(sandbox);
  }

  async function clearLock(name: string): Promise<void> {
    const sandbox = sandboxes.all.get(name);
    const clear = async (): Promise<void> => {
      if (sandbox?.owned === true) return;
      if (await provisioner.lock(name, names.search)) await provisioner.unlock(name);
    };
    await (sandbox === undefined ? clear() : sandbox.turn(clear));
  }

  /** Somebody else changed it. */
  async function lookAgain(sandbox: Sandbox): Promise<void> {
    await sandbox.turn(async () => {
      if (!sandbox.owned || sandbox.id === undefined) return;
      const found = await provisioner.find(sandbox.name);
      if (found !== undefined && found.id === sandbox.id && !differs(sandbox, found.state)) return;
      ground.act("lost", sandbox.name, { ...sandbox.user, message: found === undefined ? "It was removed." : `It is ${found.state} now.` });
      if (found !== undefined) lifecycle.learn(sandbox, found);
      else if (sandbox.claims > 0) sandbox.suspect = true;
      else await lifecycle.yieldLock(sandbox);
      if (found !== undefined && found.state !== "paused") sandbox.suspect = true;
    });
    sandboxes.tidy(sandbox);
  }
}

function differs({ state }: Sandbox, now: NonNullable<Finding["sandbox"]>["state"]): boolean {
  return state !== (now === "running" ? "ready" : now === "paused" ? "paused" : "stopped");
}

export async function eachOf<Item>(items: readonly Item[], atOnce: number, work: (item: Item) => Promise<unknown>): Promise<void> {
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
}
