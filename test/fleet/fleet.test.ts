import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/memory/index.js";
import { createFleet, targetProvisioner } from "../../src/fleet/index.js";
import { readOnly } from "../../src/layers/read-only.js";
import { altered, memoryFleet, SECRET, until } from "./memory-fleet.js";

const text = (data: Uint8Array): string => Buffer.from(data).toString();
const bytes = (content: string): Uint8Array => Buffer.from(content);

describe("acquire", () => {
  it("gives the same sandbox for the same key, and another for another", async () => {
    await using scene = memoryFleet();
    const { fleet } = scene;
    {
      await using lease = await fleet.acquire("ann");
      await lease.environment.writeFile("note", bytes("ann's"));
    }
    await using again = await fleet.acquire("ann");
    await using other = await fleet.acquire("bob");
    await using namesake = await fleet.acquire("ann", { tenant: "elsewhere" });
    expect(text((await again.environment.readFile("note")).data)).toBe("ann's");
    await expect(other.environment.readFile("note")).rejects.toMatchObject({ code: "not_found" });
    await expect(namesake.environment.readFile("note")).rejects.toMatchObject({ code: "not_found" });
  });

  it("makes one sandbox, however many ask at once", async () => {
    let made = 0;
    const base = targetProvisioner({ target: () => memory() });
    const provisioner = altered(base, {
      async create(request) {
        made += 1;
        await new Promise((resolve) => setTimeout(resolve, 20));
        return await base.create(request);
      },
    });
    await using scene = memoryFleet({ provisioner });
    const leases = await Promise.all(Array.from({ length: 50 }, () => scene.fleet.acquire("ann")));
    expect(new Set(leases.map(({ environment }) => environment.id)).size).toBe(1);
    expect(made).toBe(1);
    await Promise.all(leases.map((lease) => lease.release()));
    expect(await scene.fleet.list()).toMatchObject([{ user: { key: "ann", tenant: "" }, state: "running", owner: "this", leases: 0 }]);
  });

  it("ends a lease's environment with the lease, and not the sandbox", async () => {
    await using scene = memoryFleet();
    const first = await scene.fleet.acquire("ann");
    const second = await scene.fleet.acquire("ann");
    await first.environment.close();
    await expect(first.environment.stat(".")).rejects.toMatchObject({ code: "gone" });
    await second.environment.stat(".");
    await second.release();
    await second.release();
    expect((await scene.fleet.list())[0]?.leases).toBe(0);
  });

  it("puts the user's layers around the environment, and prepares a new sandbox once", async () => {
    let prepared = 0;
    await using scene = memoryFleet({
      config: ({ key }) => ({
        layers: key === "reader" ? [readOnly()] : [],
        async prepare(environment) {
          prepared += 1;
          await environment.writeFile("seed", bytes(key));
        },
      }),
    });
    for (const round of [1, 2]) {
      await using lease = await scene.fleet.acquire("reader");
      expect([round, text((await lease.environment.readFile("seed")).data)]).toEqual([round, "reader"]);
      await expect(lease.environment.writeFile("x", bytes("x"))).rejects.toMatchObject({ code: "permission_denied" });
    }
    expect(prepared).toBe(1);
  });

  it("leaves nothing of a sandbox that could not be prepared, and makes another the next time", async () => {
    let fails = true;
    await using scene = memoryFleet({
      config: () => ({
        async prepare() {
          if (fails) throw new Error("no such repository");
        },
      }),
    });
    await expect(scene.fleet.acquire("ann")).rejects.toThrow("no such repository");
    expect(await scene.provisioner.list({})).toEqual([]);
    expect(await scene.provisioner.volumes({})).toEqual([]);
    fails = false;
    await (await scene.fleet.acquire("ann")).release();
  });

  it("settles for one who gives up, and goes on for the others", async () => {
    let go = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    const base = targetProvisioner({ target: () => memory() });
    const provisioner = altered(base, {
      async create(request) {
        await gate;
        return await base.create(request);
      },
    });
    await using scene = memoryFleet({ provisioner });
    const controller = new AbortController();
    const impatient = scene.fleet.acquire("ann", { signal: controller.signal });
    const late = scene.fleet.acquire("ann", { deadlineMs: 20 });
    const patient = scene.fleet.acquire("ann");
    controller.abort();
    await expect(impatient).rejects.toMatchObject({ code: "aborted" });
    await expect(late).rejects.toMatchObject({ code: "timeout" });
    go();
    await (await patient).release();
    expect(await scene.fleet.list()).toHaveLength(1);
  });

  it("survives callers who come and go at every moment", async () => {
    const base = targetProvisioner({ target: () => memory() });
    const slow = async (): Promise<void> => await new Promise((resolve) => setTimeout(resolve, 3));
    const provisioner = altered(base, {
      async create(request) {
        await slow();
        return await base.create(request);
      },
      async rename(id, name) {
        await slow();
        await base.rename(id, name);
      },
      async lock(name, labels) {
        await slow();
        return await base.lock(name, labels);
      },
    });
    await using scene = memoryFleet({ provisioner, warm: { size: 2 }, caps: { active: 3 } });
    await Promise.allSettled(
      Array.from({ length: 300 }, async (_, index) => {
        await new Promise((resolve) => setTimeout(resolve, index % 50));
        const lease = await scene.fleet.acquire(`user ${index % 7}`, { deadlineMs: 1 + ((index * 7) % 40) });
        await lease.environment.stat(".");
        await lease.release();
      }),
    );
    for (let index = 0; index < 7; index += 1) await (await scene.fleet.acquire(`user ${index}`)).release();
    const names = (await scene.fleet.list()).map(({ name }) => name);
    expect(new Set(names).size).toBe(7);
    expect(names).toHaveLength(7);
    await scene.fleet.drain();
  });
});

describe("destroy, stop, drain, close", () => {
  it("destroys a sandbox with its files; calls under way are gone; twice is fine", async () => {
    await using scene = memoryFleet();
    const lease = await scene.fleet.acquire("ann");
    await lease.environment.writeFile("note", bytes("x"));
    expect(await scene.fleet.destroy("ann")).toBe(true);
    await expect(lease.environment.stat(".")).rejects.toMatchObject({ code: "gone" });
    await lease.release();
    expect(await scene.fleet.destroy("ann")).toBe(false);
    expect(await scene.provisioner.volumes({})).toEqual([]);
    await using fresh = await scene.fleet.acquire("ann");
    await expect(fresh.environment.readFile("note")).rejects.toMatchObject({ code: "not_found" });
  });

  it("stops one that is not leased, and starts it again", async () => {
    await using scene = memoryFleet();
    const lease = await scene.fleet.acquire("ann");
    await expect(scene.fleet.stop("ann")).rejects.toMatchObject({ code: "busy" });
    await lease.release();
    expect(await scene.fleet.stop("ann")).toBe(true);
    expect(await scene.fleet.list()).toMatchObject([{ state: "stopped" }]);
    await (await scene.fleet.acquire("ann")).release();
    expect(await scene.fleet.list()).toMatchObject([{ state: "running" }]);
    expect(await scene.fleet.stop("nobody")).toBe(false);
  });

  it("drains: no new ones, and an end when the last lease is given back", async () => {
    await using scene = memoryFleet();
    const lease = await scene.fleet.acquire("ann");
    let drained = false;
    const draining = scene.fleet.drain().then(() => {
      drained = true;
    });
    await expect(scene.fleet.acquire("bob")).rejects.toMatchObject({ code: "gone" });
    await lease.environment.stat(".");
    expect(drained).toBe(false);
    await lease.release();
    await draining;
  });

  it("closes and leaves users' sandboxes, and nothing else, for the next fleet", async () => {
    const provisioner = targetProvisioner({ target: () => memory() });
    const scene = memoryFleet({ provisioner, warm: { size: 2 } });
    const lease = await scene.fleet.acquire("ann");
    await lease.environment.writeFile("note", bytes("kept"));
    await scene.fleet.close();
    await expect(lease.environment.stat(".")).rejects.toMatchObject({ code: "gone" });
    expect(await provisioner.list({})).toHaveLength(1);
    expect((await provisioner.volumes({})).map(({ isLock }) => isLock)).toEqual([false]);

    await using next = memoryFleet({ provisioner });
    await until(() => next.acts().includes("adopted"));
    await using again = await next.fleet.acquire("ann");
    expect(text((await again.environment.readFile("note")).data)).toBe("kept");
  });
});

describe("two fleets at one engine", () => {
  it("never have two sandboxes for one key, and hand an idle one over", async () => {
    const provisioner = targetProvisioner({ target: () => memory() });
    await using one = memoryFleet({ provisioner });
    await using two = memoryFleet({ provisioner });
    const [first, second] = [await one.fleet.acquire("ann"), two.fleet.acquire("ann")];
    await first.environment.writeFile("note", bytes("from one"));
    expect(await Promise.race([second.then(() => "leased"), new Promise((resolve) => setTimeout(resolve, 60, "waits"))])).toBe("waits");
    await first.release();
    const lease = await second;
    expect(text((await lease.environment.readFile("note")).data)).toBe("from one");
    await expect(one.fleet.acquire("ann", { deadlineMs: 50 })).rejects.toMatchObject({ code: "timeout" });
    await lease.release();
    await (await one.fleet.acquire("ann")).release();
    expect(await provisioner.list({})).toHaveLength(1);
  });
});

it("T15 leaves alone what bears its labels without its seal", async () => {
  const provisioner = targetProvisioner({ target: () => memory() });
  await using scene = memoryFleet({ provisioner });
  await (await scene.fleet.acquire("ann")).release();
  const [own] = await provisioner.list({});
  const { labels = {}, name = "" } = own ?? {};
  const forged = { ...labels, "glovebox.fleet.seal": "0".repeat(64) };
  const doomed = `${name.slice(0, "gbf-test-".length)}x-${"0".repeat(32)}`;
  await provisioner.create({ name: doomed, labels: forged, volume: "foreign" });
  const findings = await scene.fleet.reconcile();
  expect(findings.find((finding) => finding.name === doomed)).toMatchObject({ verdict: "foreign", why: "its seal is not this fleet's" });
  expect((await provisioner.list({})).map((one) => one.name)).toContain(doomed);
  expect(await provisioner.volumes({})).toContainEqual(expect.objectContaining({ name: "foreign" }));
});

it.each([
  [{ id: "Not An Id" }, /1 to 20 small letters and digits/],
  [{ secret: "short" }, /at least 16 characters/],
  [{ caps: { active: 0 } }, /active must be more than 0/],
  [{ warm: { size: 1.5 } }, /warm.size must be a whole number/],
])("refuses %j", (wrong, message) => {
  const provisioner = targetProvisioner({ target: () => memory() });
  expect(() => createFleet({ provisioner, id: "test", secret: SECRET, ...wrong })).toThrow(message);
});
