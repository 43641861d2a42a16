import { afterEach, describe, expect, it, vi } from "vitest";
import { memory } from "../../adapters/memory/index.js";
import { targetProvisioner } from "../../src/fleet/index.js";
import { altered, memoryFleet, until } from "./memory-fleet.js";

const MINUTE = 60_000;
const PATIENCE = { timeout: 10_000 };
const clocks = { pauseAfterMs: MINUTE, stopAfterMs: 30 * MINUTE, removeAfterMs: 600 * MINUTE, reconcileMs: 1 };

afterEach(() => {
  vi.restoreAllMocks();
});

describe("clocks", () => {
  it("E04 takes an idle sandbox from step to step, and a touch brings it back with its files", async () => {
    await using scene = memoryFleet({ clocks });
    const state = async (): Promise<unknown> => (await scene.fleet.list())[0]?.state;
    const lease = await scene.fleet.acquire("ann");
    await lease.environment.writeFile("note", Buffer.from("kept"));
    await scene.pass(90 * MINUTE);
    expect(await state()).toBe("running");
    await lease.release();
    await scene.pass(0.9 * MINUTE);
    expect(await state()).toBe("running");
    await scene.pass(0.2 * MINUTE);
    await expect.poll(state, PATIENCE).toBe("paused");
    await scene.pass(30 * MINUTE);
    await expect.poll(state, PATIENCE).toBe("stopped");
    const again = await scene.fleet.acquire("ann");
    expect(Buffer.from((await again.environment.readFile("note")).data).toString()).toBe("kept");
    await again.release();
    await scene.pass(600 * MINUTE);
    await expect.poll(() => scene.provisioner.list({}), PATIENCE).toEqual([]);
    await expect.poll(() => scene.provisioner.volumes({}), PATIENCE).toEqual([]);
    expect(scene.acts().filter((act) => act !== "leased" && act !== "released")).toEqual([
      "created",
      "paused",
      "stopped",
      "started",
      "removed",
    ]);
  });

  it("E04 ends a sandbox that is never idle, at the end of its lifetime and of its lease", async () => {
    await using scene = memoryFleet({ clocks: { ...clocks, lifetimeMs: 120 * MINUTE } });
    const lease = await scene.fleet.acquire("ann");
    await scene.pass(121 * MINUTE);
    expect(await scene.fleet.list()).toHaveLength(1);
    await lease.release();
    await scene.pass(0);
    await expect.poll(() => scene.fleet.list(), PATIENCE).toEqual([]);
  });

  it.each([86_400_000, -86_400_000, 1_000, -1_000])("R24 reaps nothing when the wall clock jumps by %i ms", async (jumpMs) => {
    await using scene = memoryFleet({ clocks });
    await (await scene.fleet.acquire("ann")).release();
    const real = Date.now.bind(Date);
    vi.spyOn(Date, "now").mockImplementation(() => real() + jumpMs);
    await scene.pass(0.5 * MINUTE);
    expect(await scene.fleet.list()).toMatchObject([{ state: "running" }]);
    await scene.pass(0.6 * MINUTE);
    await expect.poll(() => scene.fleet.list(), PATIENCE).toMatchObject([{ state: "paused" }]);
  });

  it("does not pause under a call that outlives its lease", async () => {
    let end = (): void => undefined;
    const running = new Promise<void>((resolve) => {
      end = resolve;
    });
    const provisioner = targetProvisioner({
      target: () =>
        memory({
          async exec() {
            await running;
            return { exitCode: 0 };
          },
        }),
    });
    await using scene = memoryFleet({ clocks, provisioner });
    const lease = await scene.fleet.acquire("ann");
    const call = lease.environment.exec("build", { cwd: "/workspace" });
    await lease.release();
    await scene.pass(5 * MINUTE);
    expect(await scene.fleet.list()).toMatchObject([{ state: "running" }]);
    end();
    await call;
    await scene.pass(0.5 * MINUTE);
    expect(await scene.fleet.list()).toMatchObject([{ state: "running" }]);
    await scene.pass(0.6 * MINUTE);
    await expect.poll(() => scene.fleet.list(), PATIENCE).toMatchObject([{ state: "paused" }]);
  });

  it("replaces an idle sandbox of an older spec, and keeps its volume", async () => {
    const provisioner = targetProvisioner({ target: () => memory() });
    {
      await using before = memoryFleet({ provisioner, clocks, spec: { memoryBytes: 1 } });
      await (await before.fleet.acquire("ann")).release();
    }
    const [volume] = await provisioner.volumes({});
    await using scene = memoryFleet({ provisioner, clocks, spec: { memoryBytes: 2 } });
    await until(() => scene.acts().includes("adopted"));
    expect(scene.acts()).toContain("spec_changed");
    await scene.pass(2 * MINUTE);
    await until(() => scene.acts().includes("replaced"));
    await scene.pass(2 * MINUTE);
    await expect.poll(async () => (await provisioner.list({})).length, PATIENCE).toBe(1);
    const [sandbox, ...more] = await provisioner.list({});
    expect(more).toEqual([]);
    expect(sandbox?.labels["glovebox.fleet.volume"]).toBe(volume?.name);
    expect((await provisioner.volumes({})).filter(({ isLock }) => !isLock)).toEqual([volume]);
  });
});

describe("a warm pool", () => {
  it("is made ahead, paused, claimed by a rename, and refilled behind the claim", async () => {
    await using scene = memoryFleet({ warm: { size: 2 } });
    const paused = async (): Promise<number> => (await scene.provisioner.list({})).filter(({ state }) => state === "paused").length;
    await until(async () => (await paused()) === 2);
    const before = (await scene.provisioner.list({})).map(({ id }) => id);
    await using lease = await scene.fleet.acquire("ann");
    const own = await scene.provisioner.find(lease.sandbox);
    expect(before).toContain(own?.id);
    expect(own?.state).toBe("running");
    await until(async () => (await paused()) === 2);
    await scene.fleet.close();
    expect((await scene.provisioner.list({})).map(({ id }) => id)).toEqual([own?.id]);
    expect((await scene.provisioner.volumes({})).map(({ name }) => name)).toEqual([own?.labels["glovebox.fleet.volume"]]);
  });

  it("is not claimed over a sandbox that the user has already", async () => {
    const provisioner = targetProvisioner({ target: () => memory() });
    await using scene = memoryFleet({ provisioner, warm: { size: 1 } });
    await (await scene.fleet.acquire("ann")).release();
    await using other = memoryFleet({ provisioner, warm: { size: 1, paused: false } });
    await until(async () => (await provisioner.list({})).length === 3);
    const lease = await other.fleet.acquire("ann");
    expect(await provisioner.find(lease.sandbox)).toMatchObject({ state: "running" });
    expect((await other.fleet.list()).map(({ name }) => name)).toEqual([lease.sandbox]);
  });
});

it("says that the engine is lost once, goes on, and says when it is back", async () => {
  let lost = false;
  const base = targetProvisioner({ target: () => memory() });
  const provisioner = altered(base, {
    async volumes(labels) {
      if (lost) throw new Error("connect ECONNREFUSED");
      return await base.volumes(labels);
    },
  });
  await using scene = memoryFleet({ provisioner, clocks: { reconcileMs: 1 } });
  await (await scene.fleet.acquire("ann")).release();
  lost = true;
  await scene.pass(10);
  await until(() => scene.acts().includes("engine_lost"));
  await scene.pass(10);
  lost = false;
  await scene.pass(10);
  await until(() => scene.acts().includes("engine_restored"));
  expect(scene.acts().filter((act) => act.startsWith("engine"))).toEqual(["engine_lost", "engine_restored"]);
});
