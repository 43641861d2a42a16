import { randomBytes } from "node:crypto";
import { afterEach, expect, it } from "vitest";
import { dockerProvisioner } from "../../../adapters/docker/index.js";
import { createFleet } from "../../../src/fleet/index.js";
import { fleetNames } from "../../../src/fleet/names.js";
import { type Finding, survey } from "../../../src/fleet/survey.js";
import { startContainer } from "../../support/containers.js";
import { describeTarget } from "../../support/describe-target.js";
import { currentRun, testLabel } from "../../support/run-identity.js";
import { engineClient } from "../../support/sweep.js";
import { FLEET_SECRET, type FleetWorker, startFleetWorker, type Told, type WorkerOrders, wipeFleet } from "./orders.js";

const N = Math.min(300, Number(process.env.FAULTS_N ?? 30));
/** The promise: within this time nothing of a dead process lies about, on a machine that makes a sandbox in this time. */
const ADOPTION_MS = 10_000;
const CREATE_MS = 600;
let createMs = CREATE_MS;
const adoptionMs = (): number => ADOPTION_MS * Math.max(1, createMs / CREATE_MS);
/** Deaths are spread over the time that this many sandboxes take to be made, from the beginning of the work. */
const LIFE_IN_CREATES = 4;

const docker = engineClient();
const provisioner = dockerProvisioner({ image: "glovebox/busybox" });
const fleet = `kill${randomBytes(4).toString("hex")}`;
const names = fleetNames(fleet, FLEET_SECRET);
const workers = new Set<FleetWorker>();

const start = (orders: Partial<WorkerOrders>): FleetWorker => {
  const worker = startFleetWorker({
    ...{ fleet, keys: 4, clients: 3, acquires: 100_000, warm: 1, active: 3, destroyShare: 0.2, removeAfterMs: 3_000 },
    ...orders,
  });
  workers.add(worker);
  return worker;
};

afterEach(async () => {
  await Promise.all([...workers].map((worker) => worker.kill()));
  workers.clear();
  await wipeFleet(fleet);
}, 120_000);

/** How long the first acquire takes here and now. */
async function measureCreate(): Promise<void> {
  await using scout = createFleet({ provisioner, id: fleet, secret: FLEET_SECRET });
  await scout.list();
  const started = performance.now();
  await (await scout.acquire("scout")).release();
  createMs = performance.now() - started;
  await scout.destroy("scout");
}

async function look(): Promise<readonly Finding[]> {
  return (await survey(provisioner, names, { has: () => false })).findings;
}

/** What is there and belongs to nobody alive, each as one text. */
async function ownerless(): Promise<readonly string[]> {
  return (await look()).filter(({ verdict }) => verdict !== "keep").map(({ name, verdict, why }) => `${verdict} ${name}: ${why}`);
}

/** Resolves when nothing of those is ownerless any more; to how long that took. */
async function putRight(those: readonly string[]): Promise<number> {
  const started = performance.now();
  for (;;) {
    const left = await ownerless();
    const stale = those.filter((one) => left.includes(one));
    if (stale.length === 0) return performance.now() - started;
    if (performance.now() - started > adoptionMs()) throw new Error(`left for ${adoptionMs()} ms:\n${stale.join("\n")}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** No user ever had two containers at a time, or one that another user had before. */
function judge(told: readonly Told[]): void {
  const usersOf = new Map<string, Set<string>>();
  for (const { did, containerId, key, owner } of told) {
    if (did !== "used") continue;
    expect(owner).toBe(key);
    usersOf.set(containerId, (usersOf.get(containerId) ?? new Set()).add(key));
  }
  expect([...usersOf.values()].filter(({ size }) => size > 1)).toEqual([]);
  const unexpected = told.filter(
    ({ did, code }) => did === "failed" && !["gone", "timeout", "busy", "unknown_outcome", "disconnected"].includes(code),
  );
  expect(unexpected).toEqual([]);
}

function uses(told: readonly Told[]): number {
  return told.filter(({ did }) => did === "used").length;
}

async function containersByName(): Promise<readonly string[]> {
  const found = await docker.listContainers({ all: true, filters: { label: [`glovebox.fleet.id=${fleet}`] } });
  return found.map(({ Names }) => Names[0] ?? "").filter((name) => names.kindOf(name.slice(1)) === "keyed");
}

describeTarget("docker", "a fleet process that dies", () => {
  it(
    `E01 E02 P7 P8 leaves nothing behind and harms nobody: ${N} deaths at random moments`,
    async () => {
      await using control = await startContainer({ image: "glovebox/busybox" });
      const volume = await docker.createVolume({ Name: `control-${fleet}`, Labels: { [testLabel]: currentRun() } });
      const before = await control.container.inspect();
      await measureCreate();
      const lifeMs = LIFE_IN_CREATES * createMs;
      const told: Told[] = [];
      const adoptions: number[] = [];
      let next = start({});
      for (let death = 0; death < N; death += 1) {
        const worker = next;
        if (death === 0) worker.go();
        next = start({});
        await worker.began;
        await new Promise((resolve) => setTimeout(resolve, Math.random() * lifeMs));
        // Some live until they have a sandbox in use, however slow the machine is by now.
        const isUsed = (): boolean => uses(worker.told) > 0;
        for (const until = performance.now() + 30_000; death % 5 === 0 && !isUsed() && performance.now() < until; )
          await new Promise((resolve) => setTimeout(resolve, 50));
        await worker.kill();
        workers.delete(worker);
        const left = await ownerless();
        told.push(...worker.told);
        next.go();
        await next.began;
        adoptions.push(await putRight(left));
      }
      await next.kill();
      judge([...told, ...next.told]);
      expect(told.some(({ did }) => did === "used")).toBe(true);
      expect(Math.max(...adoptions)).toBeLessThan(adoptionMs());

      // The last one's heir takes over what is whole, removes what is not, and can end it all.
      const heir = createFleet({ provisioner, id: fleet, secret: FLEET_SECRET });
      await putRight(await ownerless());
      const users = await heir.list();
      expect(users.every(({ owner }) => owner === "this")).toBe(true);
      for (let user = 0; user < 4; user += 1) await heir.destroy(`user ${user}`);
      await heir.close();
      expect(await look()).toEqual([]);

      const after = await control.container.inspect();
      expect([after.State.Pid, after.State.StartedAt, after.Name]).toEqual([before.State.Pid, before.State.StartedAt, before.Name]);
      expect((await volume.inspect()).Name).toBe(`control-${fleet}`);
      await volume.remove();
    },
    120_000 + N * 10_000,
  );

  it(
    `two processes, 8 clients, 50 keys, ${Math.ceil(N / 5)} deaths: never two containers for a key, nor one for two`,
    async () => {
      const orders = { keys: 50, clients: 4, active: 4, warm: 1, destroyShare: 0.15, removeAfterMs: 2_500 };
      await measureCreate();
      const told: Told[] = [];
      const living = [start(orders), start(orders)];
      let spare = start(orders);
      for (const worker of living) worker.go();
      await Promise.all(living.map(({ began }) => began));
      for (let death = 0; death < Math.ceil(N / 5); death += 1) {
        const victim = living[death % 2];
        const enough = victim === undefined ? 0 : uses(victim.told) + 1 + Math.random() * 10;
        const deadline = performance.now() + 20_000;
        while (victim !== undefined && uses(victim.told) < enough && performance.now() < deadline) {
          await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 200));
          const found = await containersByName();
          expect(new Set(found).size).toBe(found.length);
        }
        await victim?.kill();
        told.push(...(victim?.told ?? []));
        living[death % 2] = spare;
        spare.go();
        spare = start(orders);
      }
      await Promise.all(living.map((worker) => worker.kill()));
      told.push(...living.flatMap((worker) => worker.told));
      judge(told);
      expect(uses(told)).toBeGreaterThan(0);
      const heir = createFleet({ provisioner, id: fleet, secret: FLEET_SECRET });
      await putRight(await ownerless());
      for (let user = 0; user < 50; user += 1) await heir.destroy(`user ${user}`);
      await heir.close();
      expect(await look()).toEqual([]);
    },
    180_000 + N * 2_000,
  );
});
