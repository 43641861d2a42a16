import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/memory/index.js";
import { targetProvisioner } from "../../src/fleet/index.js";
import { createLine } from "../../src/fleet/line.js";
import { altered, memoryFleet, until } from "./memory-fleet.js";

describe("caps", () => {
  it("lets those beyond `active` wait in line, and serves them all", async () => {
    await using scene = memoryFleet({ caps: { active: 2 } });
    let now = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        await using lease = await scene.fleet.acquire(`user ${index}`);
        now += 1;
        most = Math.max(most, now);
        await lease.environment.stat(".");
        now -= 1;
      }),
    );
    expect(most).toBeLessThanOrEqual(2);
    expect(scene.fleet.metrics()).toContain('glovebox_fleet_active{fleet="test"} 0');
  });

  it("leaves the line at a deadline or an abort, and says what it waited for", async () => {
    await using scene = memoryFleet({ caps: { active: 1 } });
    await using _lease = await scene.fleet.acquire("ann");
    const controller = new AbortController();
    const aborted = scene.fleet.acquire("bob", { signal: controller.signal });
    const late = scene.fleet.acquire("cid", { deadlineMs: 20 });
    controller.abort();
    await expect(aborted).rejects.toMatchObject({ code: "aborted" });
    await expect(late).rejects.toThrow(
      "No sandbox within 20 ms: 1 users wait for one of 1 places (caps.active). Try again, or allow more time (deadlineMs).",
    );
    await until(() => scene.fleet.metrics().includes('glovebox_fleet_waiting{fleet="test"} 0'));
  });

  it.each([
    [{ active: 1, waiting: 1 }, "waiting"],
    [{ active: 1, waitingPerTenant: 1 }, "waitingPerTenant"],
  ])("refuses when the line is full: %j", async (caps, cap) => {
    await using scene = memoryFleet({ caps });
    await using _lease = await scene.fleet.acquire("ann");
    const waits = scene.fleet.acquire("bob", { deadlineMs: 200 });
    await expect(scene.fleet.acquire("cid")).rejects.toMatchObject({ code: "busy", details: { cap } });
    await expect(waits).rejects.toMatchObject({ code: "timeout" });
  });

  it.each([
    [{ total: 2 }, "total"],
    [{ totalPerTenant: 2 }, "totalPerTenant"],
  ])("refuses one sandbox more than %j, until one is destroyed", async (caps, cap) => {
    await using scene = memoryFleet({ caps, warm: { size: 1 } });
    const results = await Promise.allSettled(["a", "b", "c", "d"].map((key) => scene.fleet.acquire(key)));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
    await expect(scene.fleet.acquire("e")).rejects.toMatchObject({ code: "busy", details: { cap } });
    for (const key of ["a", "b", "c", "d"]) await scene.fleet.destroy(key);
    await (await scene.fleet.acquire("e")).release();
  });

  it("bounds a user's leases", async () => {
    await using scene = memoryFleet({ caps: { leasesPerUser: 2 } });
    const leases = await Promise.all([scene.fleet.acquire("ann"), scene.fleet.acquire("ann")]);
    await expect(scene.fleet.acquire("ann")).rejects.toMatchObject({ code: "busy", details: { cap: "leasesPerUser" } });
    await leases[0]?.release();
    await (await scene.fleet.acquire("ann")).release();
  });

  it("asks what the engine's machine has left", async () => {
    const base = targetProvisioner({ target: () => memory() });
    let freeBytes: number | undefined = 10;
    const provisioner = altered(base, { freeMemoryBytes: async () => freeBytes });
    await using scene = memoryFleet({ provisioner, minimumFreeBytes: 20 });
    await expect(scene.fleet.acquire("ann")).rejects.toMatchObject({ code: "busy", details: { freeBytes: 10, minimumFreeBytes: 20 } });
    expect(await base.volumes({})).toEqual([]);
    freeBytes = 30;
    await (await scene.fleet.acquire("ann")).release();
    freeBytes = undefined;
    await (await scene.fleet.acquire("bob")).release();
  });
});

describe("fairness", () => {
  it("J4 a tenant with 1,000 waiting acquires delays another's first by one turn", async () => {
    await using scene = memoryFleet({ caps: { active: 2, total: 2_000 } });
    const order: string[] = [];
    const use = async (key: string, tenant: string): Promise<void> => {
      await using lease = await scene.fleet.acquire(key, { tenant });
      order.push(tenant);
      await lease.environment.stat(".");
    };
    const crowd = Array.from({ length: 1_000 }, (_, index) => use(`user ${index}`, "crowd"));
    await until(() => order.length > 10);
    const servedBefore = order.length;
    const single = use("only", "single");
    await single;
    expect(order.indexOf("single") - servedBefore).toBeLessThanOrEqual(2);
    await Promise.all(crowd);
  }, 60_000);

  it("serves everyone, in order within a tenant, and never more at once than there are places", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 40 }),
        fc.integer({ min: 1, max: 4 }),
        async (tenants, places) => {
          const line = createLine({ places, placesPerTenant: 2, waiting: 100, waitingPerTenant: 100 }, "a place");
          const served = new Map<string, number[]>();
          let most = 0;
          await Promise.all(
            tenants.map(async (tenant, index) => {
              const leave = await line.enter(tenant);
              served.set(tenant, [...(served.get(tenant) ?? []), index]);
              most = Math.max(most, line.held);
              expect(line.heldBy(tenant)).toBeLessThanOrEqual(2);
              await new Promise((resolve) => setImmediate(resolve));
              leave();
              leave();
            }),
          );
          expect(most).toBeLessThanOrEqual(places);
          for (const order of served.values()) expect(order).toEqual([...order].sort((one, two) => one - two));
          expect([line.held, line.waiting]).toEqual([0, 0]);
        },
      ),
      { numRuns: 50 },
    );
  });
});
