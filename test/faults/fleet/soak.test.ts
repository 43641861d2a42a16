import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { afterAll, expect, it } from "vitest";
import { dockerProvisioner } from "../../../adapters/docker/index.js";
import { GloveboxError } from "../../../src/contract/errors.js";
import { createFleet } from "../../../src/fleet/index.js";
import { describeTarget } from "../../support/describe-target.js";
import { engineClient } from "../../support/sweep.js";
import { FLEET_SECRET, wipeFleet } from "./orders.js";

const SECONDS = Number(process.env.SOAK_SECONDS ?? 60);
const KEYS = 4;
const MAX_GROWTH_BYTES = 48 * 1024 * 1024;
const fleetId = `soak${randomBytes(4).toString("hex")}`;

afterAll(() => wipeFleet(fleetId));

describeTarget("docker", "a soak", () => {
  it(
    `R31 ${SECONDS} s of acquires, pauses, stops and removals leave memory, descriptors and containers as they were`,
    async () => {
      const provisioner = dockerProvisioner({ image: "glovebox/busybox" });
      const clocks = { tickMs: 100, reconcileMs: 1_000, pauseAfterMs: 300, stopAfterMs: 2_000, removeAfterMs: 4_000 };
      const fleet = createFleet({ provisioner, id: fleetId, secret: FLEET_SECRET, warm: { size: 1 }, clocks });
      const docker = engineClient();
      const samples: { readonly rss: number; readonly descriptors: number; readonly containers: number }[] = [];
      let acquires = 0;
      const end = performance.now() + SECONDS * 1_000;
      // A destroy cuts the other client's call: that is its answer.
      const cut = ["gone", "unknown_outcome", "disconnected", "conflict"];
      const use = async (key: string, round: number): Promise<void> => {
        try {
          await using lease = await fleet.acquire(key);
          await lease.environment.writeFile("note", Buffer.alloc(4_096, round));
          acquires += 1;
        } catch (error) {
          if (!(error instanceof GloveboxError && cut.includes(error.code))) throw error;
        }
      };
      const client = async (seed: number): Promise<void> => {
        for (let round = seed; performance.now() < end; round += 1) {
          const key = `user ${round % KEYS}`;
          await use(key, round);
          if (round % 9 === 0) await fleet.destroy(key);
          await new Promise((resolve) => setTimeout(resolve, (round % 5) * 200));
        }
      };
      const sampler = (async () => {
        while (performance.now() < end) {
          await new Promise((resolve) => setTimeout(resolve, (SECONDS * 1_000) / 20));
          global.gc?.();
          const containers = await docker.listContainers({ all: true, filters: { label: [`glovebox.fleet.id=${fleetId}`] } });
          const descriptors = readdirSync("/proc/self/fd").length;
          samples.push({ rss: process.memoryUsage().rss, descriptors, containers: containers.length });
        }
      })();
      await Promise.all([client(0), client(1), sampler]);
      const [early, late] = [samples.slice(4, 8), samples.slice(-4)];
      const mean = (of: typeof samples, what: keyof (typeof samples)[number]): number =>
        of.reduce((sum, one) => sum + one[what], 0) / of.length;
      const mib = (bytes: number): string => `${(bytes / 1024 ** 2).toFixed(0)} MiB`;
      const told = samples.map(({ rss, descriptors, containers }) => `${mib(rss)} ${descriptors} fds ${containers} containers`);
      if (SECONDS > 60) console.log(`${acquires} acquires\n${told.join("\n")}`);
      expect(acquires).toBeGreaterThan(0);
      expect(mean(late, "rss") - mean(early, "rss")).toBeLessThan(MAX_GROWTH_BYTES);
      expect(mean(late, "descriptors") - mean(early, "descriptors")).toBeLessThan(30);
      // The users', the warm one, and one more being made or removed for each.
      expect(Math.max(...samples.map(({ containers }) => containers))).toBeLessThanOrEqual(2 * (KEYS + 1));
      for (let user = 0; user < KEYS; user += 1) await fleet.destroy(`user ${user}`);
      await fleet.close();
      const filters = { label: [`glovebox.fleet.id=${fleetId}`] };
      expect(await docker.listContainers({ all: true, filters })).toEqual([]);
      expect((await docker.listVolumes({ filters })).Volumes ?? []).toEqual([]);
      await provisioner.close();
    },
    SECONDS * 1_000 + 120_000,
  );
});
