import { once } from "node:events";
import { dockerProvisioner } from "../../../adapters/docker/index.js";
import { GloveboxError } from "../../../src/contract/errors.js";
import { createFleet } from "../../../src/fleet/index.js";
import { FLEET_SECRET, type WorkerOrders } from "./orders.js";

/*
 * A fleet process to be killed: clients acquire, use, give back and now and then destroy users' sandboxes, as fast as it
 * goes, until the end. Each use is told on standard output: who had which container, and whether the files were his.
 */
// All is loaded when the word comes, so that a test does not wait for that.
await once(process.stdin, "data");
const orders = JSON.parse(process.argv[2] ?? "{}") as WorkerOrders;
const provisioner = dockerProvisioner({
  image: "glovebox/busybox",
  memoryBytes: 32 * 1024 * 1024,
  ...(orders.host && { host: orders.host }),
});
const fleet = createFleet({
  provisioner,
  id: orders.fleet,
  secret: FLEET_SECRET,
  warm: { size: orders.warm },
  caps: { creating: 2, active: orders.active },
  clocks: { tickMs: 50, reconcileMs: 1_000, pauseAfterMs: 60, stopAfterMs: 600, removeAfterMs: orders.removeAfterMs },
});

const tell = (fact: object): void => void process.stdout.write(`${JSON.stringify(fact)}\n`);
let left = orders.acquires;

async function client(): Promise<void> {
  while (left > 0) {
    left -= 1;
    const key = `user ${Math.floor(Math.random() * orders.keys)}`;
    const started = performance.now();
    try {
      if (Math.random() < orders.destroyShare) {
        await fleet.destroy(key);
        tell({ did: "destroyed", key });
        continue;
      }
      await using lease = await fleet.acquire(key, { deadlineMs: 30_000 });
      const { environment } = lease;
      const { containerId } = environment as typeof environment & { readonly containerId: string };
      tell({ did: "leased", key, containerId, ms: performance.now() - started });
      await environment.writeFile("owner", Buffer.from(key));
      const owner = Buffer.from((await environment.readFile("owner")).data).toString();
      tell({ did: "used", key, containerId, owner });
    } catch (error) {
      tell({ did: "failed", key, code: error instanceof GloveboxError ? error.code : "foreign", message: String(error) });
    }
  }
}

await fleet.list();
tell({ did: "began", pid: process.pid });
await Promise.all(Array.from({ length: orders.clients }, client));
tell({ did: "ended" });
process.stdin.destroy();
await fleet.close();
await provisioner.close();
