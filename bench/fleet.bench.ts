import Docker from "dockerode";
import { dockerProvisioner } from "../adapters/docker/index.js";
import type { SharedProvisioner } from "../src/contract/target.js";
import { createFleet, type Fleet, type FleetOptions } from "../src/fleet/index.js";
import { ms, ratio, type Spread, spread, timed } from "./measure.js";
import type { Table } from "./table.js";

export const name = "fleet";

const CLAIMS = Number(process.env.BENCH_CLAIMS ?? 20);
const CREATES = Number(process.env.BENCH_CREATES ?? 10);
const USERS = Number(process.env.BENCH_USERS ?? 100);
const IDLE = Number(process.env.BENCH_IDLE ?? 50);
/** An engine is busy for a moment after it has made a container. */
const SETTLE_MS = 1_000;
const MEMORY_OF_A_BIG_MACHINE = 24 * 1024 ** 3;

/** What a platform waits for: a warm sandbox, a cold one, a place among a hundred users; and what an idle one costs. */
export async function run(): Promise<Table> {
  const provisioner = dockerProvisioner({ image: "glovebox/sandbox" });
  try {
    const running = await claims(provisioner, false);
    const paused = await claims(provisioner, true);
    const cold = await creates(provisioner);
    const crowd = await users(provisioner);
    const idle = await idleMemory(provisioner);
    const beside = ({ ours, bare }: Claims, what: string): string => `${ratio(ours.p50, bare.p50)} of ${what}, ${ms(bare.p50)}`;
    const row = (what: string, { p50, p95 }: Spread, note = ""): readonly string[] => [what, ms(p50), ms(p95), note];
    return {
      title: "Fleet over Docker, ms unless it says otherwise",
      columns: ["what", "p50", "p95", "beside"],
      rows: [
        row("claim a warm sandbox, lanes attached, running (goal: 12)", running.ours, beside(running, "a bare rename")),
        row("the same, and its first stat", running.first),
        row("claim a warm sandbox, lanes attached, paused (goal: 35)", paused.ours, beside(paused, "a bare rename and unpause")),
        row("the same, and its first stat", paused.first),
        row("acquire again, idle and running", cold.again),
        row("acquire, cold, to the first command's answer", cold.ours, `${ratio(cold.ours.p50, cold.bare.p50)} of bare`),
        row("the engine's bare create, start and exec", cold.bare),
        row(`${USERS} users at once, 20 places: each one's wait`, crowd.waits, `p99 ${ms(crowd.p99)}, all served in ${ms(crowd.totalMs)}`),
        [
          `memory of one of ${IDLE} idle sandboxes, lanes attached`,
          `${(idle.engineBytes / 1024 ** 2).toFixed(1)} MiB`,
          "",
          `ours ${(idle.ownBytes / 1024).toFixed(0)} KiB; 24 GiB would hold ${Math.floor(MEMORY_OF_A_BIG_MACHINE / (idle.engineBytes + idle.ownBytes))} by memory alone`,
        ],
      ],
    };
  } finally {
    await provisioner.close();
  }
}

async function withFleet<Result>(provisioner: SharedProvisioner, options: Partial<FleetOptions>, work: (fleet: Fleet) => Promise<Result>) {
  const fleet = createFleet({ provisioner, id: "bench", secret: "a secret for benchmarks", ...options });
  try {
    return await work(fleet);
  } finally {
    for (const { user } of await fleet.list()) if (user !== undefined) await fleet.destroy(user.key);
    await fleet.close();
  }
}

interface Claims {
  readonly ours: Spread;
  readonly first: Spread;
  readonly bare: Spread;
}

async function claims(provisioner: SharedProvisioner, paused: boolean): Promise<Claims> {
  const control = await new Docker().createContainer({ Image: "glovebox/sandbox", HostConfig: { NetworkMode: "none" } });
  const [ours, first, bare]: [number[], number[], number[]] = [[], [], []];
  await control.start();
  try {
    return await withFleet(provisioner, { warm: { size: 2, paused } }, async (fleet) => {
      for (let user = 0; user < CLAIMS; user += 1) {
        // A claim is measured by itself, not beside the making of the next one.
        while (!fleet.metrics().includes('glovebox_fleet_warm{fleet="bench"} 2')) await pause(50);
        await pause(SETTLE_MS);
        const started = performance.now();
        const { environment } = await fleet.acquire(`user ${user}`);
        ours.push(performance.now() - started);
        await environment.stat(".");
        first.push(performance.now() - started);
        if (paused) await control.pause();
        const claimBare = async (): Promise<void> => {
          await control.rename({ name: `bench-${process.pid}-${user}` });
          if (paused) await control.unpause();
        };
        bare.push(await timed(claimBare));
        await fleet.destroy(`user ${user}`);
      }
      return { ours: spread(ours), first: spread(first), bare: spread(bare) };
    });
  } finally {
    await control.remove({ force: true });
  }
}

async function creates(provisioner: SharedProvisioner): Promise<{ readonly ours: Spread; readonly bare: Spread; readonly again: Spread }> {
  const engine = new Docker();
  const [ours, bare, again]: [number[], number[], number[]] = [[], [], []];
  await withFleet(provisioner, {}, async (fleet) => {
    for (let user = 0; user < CREATES; user += 1) {
      const use = async (): Promise<void> => {
        await using lease = await fleet.acquire(`user ${user}`);
        await lease.environment.exec("true", { cwd: "/workspace" });
      };
      ours.push(await timed(use));
      again.push(await timed(async () => await (await fleet.acquire(`user ${user}`)).release()));
      await fleet.destroy(`user ${user}`);
      let container: Docker.Container | undefined;
      bare.push(
        await timed(async () => {
          container = await engine.createContainer({
            Image: "glovebox/sandbox",
            HostConfig: { NetworkMode: "none", Init: true },
          });
          await container.start();
          const exec = await container.exec({ Cmd: ["true"], AttachStdout: true });
          const stream = await exec.start({});
          stream.resume();
          await new Promise((resolve) => stream.once("end", resolve));
        }),
      );
      await container?.remove({ force: true });
    }
  });
  return { ours: spread(ours), bare: spread(bare), again: spread(again) };
}

async function users(provisioner: SharedProvisioner): Promise<{ readonly waits: Spread; readonly p99: number; readonly totalMs: number }> {
  const caps = { active: 20, creating: 4 };
  return await withFleet(provisioner, { caps, warm: { size: 4, paused: false } }, async (fleet) => {
    const waits: number[] = [];
    const totalMs = await timed(async () => {
      await Promise.all(
        Array.from({ length: USERS }, async (_, user) => {
          const key = `user ${user}`;
          const started = performance.now();
          await using lease = await fleet.acquire(key, { deadlineMs: 600_000 });
          waits.push(performance.now() - started);
          await lease.environment.writeFile("note", Buffer.from(key));
          await fleet.destroy(key);
        }),
      );
    });
    const sorted = [...waits].sort((a, b) => a - b);
    return { waits: spread(waits), p99: sorted[Math.floor(0.99 * sorted.length)] ?? Number.NaN, totalMs };
  });
}

async function idleMemory(provisioner: SharedProvisioner): Promise<{ readonly engineBytes: number; readonly ownBytes: number }> {
  const freeBefore = (await provisioner.freeMemoryBytes()) ?? Number.NaN;
  const ownBefore = process.memoryUsage().rss;
  return await withFleet(provisioner, {}, async (fleet) => {
    for (let user = 0; user < IDLE; user += 1) await (await fleet.acquire(`user ${user}`)).release();
    const freeAfter = (await provisioner.freeMemoryBytes()) ?? Number.NaN;
    const ownBytes = Math.max(0, process.memoryUsage().rss - ownBefore) / IDLE;
    return { engineBytes: (freeBefore - freeAfter) / IDLE - ownBytes, ownBytes };
  });
}

function pause(timeMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, timeMs);
  });
}
