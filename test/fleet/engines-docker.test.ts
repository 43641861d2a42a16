import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { dockerProvisioner } from "../../adapters/docker/index.js";
import { dockerProvisionerOverSsh } from "../../adapters/nested.js";
import type { GloveboxEvent } from "../../src/contract/events.js";
import { createFleet, type Engines, engines, type Fleet } from "../../src/fleet/index.js";
import { wipeFleet } from "../faults/fleet/orders.js";
import { describeTarget } from "../support/describe-target.js";
import { type PrivateEngine, privateEngineObstacle, startPrivateEngine } from "../support/netns-engine.js";
import { type SshServer, startSshd } from "../support/sshd.js";
import { SECRET } from "./memory-fleet.js";

const id = `test${randomBytes(4).toString("hex")}`;
const obstacle = privateEngineObstacle();
const sandboxes = { image: "glovebox/busybox", memoryBytes: 64 * 1024 ** 2, pids: 64 };

describeTarget("docker", "a fleet over two Docker engines", () => {
  let second: PrivateEngine;
  let provisioner: Engines;
  let fleet: Fleet;
  const events: GloveboxEvent[] = [];
  const told = (act: string): boolean => events.some((event) => event.type === "fleet_act" && event.act === act);
  const open = (): Engines =>
    engines([
      { name: "shared", provisioner: dockerProvisioner(sandboxes) },
      { name: "second", provisioner: dockerProvisioner({ ...sandboxes, host: second.dockerHost }) },
    ]);

  beforeAll(async () => {
    if (obstacle !== undefined) return;
    second = await startPrivateEngine();
    provisioner = open();
    const clocks = { tickMs: 50, reconcileMs: 300 };
    fleet = createFleet({ provisioner, id, secret: SECRET, clocks, onEvent: (event) => void events.push(event) });
  }, 60_000);

  afterAll(async () => {
    await fleet?.close();
    await provisioner?.close();
    await wipeFleet(id);
    await second?.remove();
  }, 60_000);

  async function write(key: string): Promise<void> {
    await using lease = await fleet.acquire(key);
    await lease.environment.writeFile("note", Buffer.from(key));
  }

  async function read(key: string): Promise<string> {
    await using lease = await fleet.acquire(key);
    return Buffer.from((await lease.environment.readFile("note")).data).toString();
  }

  async function usersAt(engine: string): Promise<readonly string[]> {
    return (await fleet.list()).flatMap((one) => (one.engine === engine && one.user !== undefined ? [one.user.key] : [])).sort();
  }

  it.skipIf(obstacle !== undefined)(
    `of which one is killed: its users are lost, not made anew unless asked, and found again${obstacle ? ` (${obstacle})` : ""}`,
    async () => {
      await Promise.all(["ann", "bob", "cid", "dan"].map(write));
      const [near, far] = [await usersAt("shared"), await usersAt("second")];
      const [first, other] = far;
      expect([near.length, far.length]).toEqual([2, 2]);
      if (first === undefined || other === undefined) return;

      await second.kill();
      await expect.poll(() => told("engine_lost"), { timeout: 20_000 }).toBe(true);
      for (const key of near) expect(await read(key)).toBe(key);
      await write("eve");
      expect(await usersAt("shared")).toEqual([...near, "eve"].sort());
      // His lanes broke with the engine, so that this process has to ask for him again.
      await expect(fleet.destroy(first)).rejects.toMatchObject({ code: "disconnected", details: { engine: "second" } });

      const late = open();
      await using since = createFleet({ provisioner: late, id, secret: SECRET, attend: false });
      await expect(since.acquire(first)).rejects.toMatchObject({
        code: "disconnected",
        details: { engine: "second", option: "recreateLost" },
      });
      expect((await since.list()).filter(({ state }) => state === "lost")).toHaveLength(2);
      await since.close();
      await late.close();

      {
        await using lease = await fleet.acquire(first, { recreateLost: true });
        await expect(lease.environment.readFile("note")).rejects.toMatchObject({ code: "not_found" });
        await lease.environment.writeFile("note", Buffer.from("anew"));
      }
      await second.start();
      await expect.poll(() => told("engine_restored"), { timeout: 60_000 }).toBe(true);
      await expect.poll(() => read(other).catch(() => ""), { timeout: 60_000 }).toBe(other);
      expect(await read(first)).toBe("anew");
      const older = (await fleet.survey()).filter(({ verdict }) => verdict === "foreign");
      expect(older).toMatchObject([{ what: "sandbox", why: expect.stringContaining("the engine second has this older sandbox") }]);
      expect(fleet.metrics()).toContain(`glovebox_fleet_engine_alive{fleet="${id}",engine="second"} 1`);

      for (const key of [...near, ...far, "eve"]) expect(await fleet.destroy(key)).toBe(true);
      expect(await read(first)).toBe(first);
      expect(await fleet.destroy(first)).toBe(true);
      await fleet.close();
      expect(await provisioner.list({ "glovebox.fleet.id": id })).toEqual([]);
      expect((await second.docker.listVolumes()).Volumes ?? []).toEqual([]);
    },
    240_000,
  );
});

describeTarget(["ssh", "docker"], "an engine of a fleet on an SSH host", () => {
  let server: SshServer;
  beforeAll(async () => {
    server = await startSshd({ login: "root" });
  });
  afterAll(async () => {
    await wipeFleet(id);
    await server?.stop();
  });

  it("is one as any other", async () => {
    const socketPath = (process.env.DOCKER_HOST ?? "unix:///var/run/docker.sock").replace(/^unix:\/\//, "");
    const { host, port, privateKeyPath: identity, hostKeyFingerprint: hostKey } = server;
    const there = dockerProvisionerOverSsh(sandboxes, { host, port, user: "root", identity, hostKey, config: "none", socketPath });
    const { hasImage, freeBytes = 0, sandboxBytes } = await there.capacity();
    expect([hasImage, sandboxBytes]).toEqual([true, sandboxes.memoryBytes]);
    expect(freeBytes).toBeGreaterThan(0);
    const without = dockerProvisioner({ image: "glovebox/none" });
    expect((await without.capacity()).hasImage).toBe(false);
    const provisioner = engines([
      { name: "without", provisioner: without },
      { name: "there", provisioner: there },
    ]);
    await using fleet = createFleet({ provisioner, id, secret: SECRET });
    {
      await using lease = await fleet.acquire("ann");
      await lease.environment.writeFile("note", Buffer.from("kept"));
    }
    expect(await fleet.list()).toMatchObject([{ engine: "there", state: "running" }]);
    expect(await fleet.destroy("ann")).toBe(true);
    await fleet.close();
    await provisioner.close();
  }, 60_000);
});
