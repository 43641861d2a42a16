import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DockerProvisioner, dockerProvisioner } from "../../../adapters/docker/index.js";
import type { GloveboxEvent } from "../../../src/contract/events.js";
import { createFleet, type Fleet } from "../../../src/fleet/index.js";
import { targetState } from "../../support/describe-target.js";
import { type PrivateEngine, privateEngineObstacle, startPrivateEngine } from "../../support/netns-engine.js";
import { FLEET_SECRET } from "./orders.js";

const docker = targetState("docker");
const obstacle = docker.ready ? privateEngineObstacle() : docker.reason;

describe.skipIf(obstacle !== undefined)(`a fleet whose engine fails${obstacle === undefined ? "" : ` (${obstacle})`}`, () => {
  let engine: PrivateEngine;
  let provisioner: DockerProvisioner;
  let fleet: Fleet;
  const events: GloveboxEvent[] = [];
  const acts = (): readonly string[] => events.flatMap((event) => (event.type === "fleet_act" ? [event.act] : []));

  beforeAll(async () => {
    engine = await startPrivateEngine();
    provisioner = dockerProvisioner({ image: "glovebox/busybox", host: engine.dockerHost });
    const clocks = { tickMs: 100, reconcileMs: 500 };
    fleet = createFleet({ provisioner, id: "engine", secret: FLEET_SECRET, clocks, onEvent: (event) => void events.push(event) });
  });

  afterAll(async () => {
    await fleet?.close();
    await provisioner?.close();
    await engine?.remove();
  });

  /** Acquires until it works, as a caller would; every single one settles in time. */
  async function acquireAgain(key: string): Promise<string> {
    const deadline = performance.now() + 60_000;
    for (;;) {
      const started = performance.now();
      try {
        await using lease = await fleet.acquire(key, { deadlineMs: 10_000 });
        return Buffer.from((await lease.environment.readFile("note")).data).toString();
      } catch (error) {
        expect(performance.now() - started).toBeLessThan(35_000);
        if (performance.now() > deadline) throw error;
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    }
  }

  it("R06 killed and started again: calls settle, the sandbox and its files are found again", async () => {
    const lease = await fleet.acquire("ann");
    await lease.environment.writeFile("note", Buffer.from("kept"));
    await engine.kill();
    await expect(lease.environment.exec("echo hi", { cwd: "/workspace" })).rejects.toMatchObject({ name: "GloveboxError" });
    await expect(fleet.acquire("bob", { deadlineMs: 3_000 })).rejects.toMatchObject({ name: "GloveboxError" });
    await lease.release();
    await expect.poll(acts, { timeout: 30_000 }).toContain("engine_lost");
    await engine.start();
    expect(await acquireAgain("ann")).toBe("kept");
  });

  it("R07 restarted in order: it stopped the containers, and the next acquire starts them", async () => {
    await engine.stop();
    await engine.start();
    expect(await acquireAgain("ann")).toBe("kept");
    expect(await fleet.list()).toHaveLength(1);
    expect(await engine.docker.listContainers({ all: true })).toHaveLength(1);
  });

  it("R08 frozen: an acquire settles by its deadline, and works after the thaw", async () => {
    engine.freeze();
    const started = performance.now();
    await expect(fleet.acquire("cid", { deadlineMs: 1_000 })).rejects.toMatchObject({ code: "timeout" });
    expect(performance.now() - started).toBeLessThan(10_000);
    engine.thaw();
    expect(await acquireAgain("ann")).toBe("kept");
  });

  it("R12 removed by somebody else: the fleet says so, and makes a new one", async () => {
    const { name } = (await fleet.list()).find(({ user }) => user?.key === "ann") ?? { name: "" };
    await engine.docker.getContainer(name).remove({ force: true });
    await fleet.reconcile();
    expect(acts()).toContain("lost");
    await using lease = await fleet.acquire("ann");
    await expect(lease.environment.readFile("note")).rejects.toMatchObject({ code: "not_found" });
  });

  it("leaves nothing behind at the end", async () => {
    for (const key of ["ann", "bob", "cid"]) await fleet.destroy(key);
    await fleet.close();
    expect(await engine.docker.listContainers({ all: true })).toEqual([]);
    expect((await engine.docker.listVolumes()).Volumes ?? []).toEqual([]);
  });
});
