import { randomBytes } from "node:crypto";
import { afterAll, expect, it } from "vitest";
import { dockerProvisioner } from "../../adapters/docker/index.js";
import { createFleet } from "../../src/fleet/index.js";
import { runCli } from "../cli/run-cli.js";
import { wipeFleet } from "../faults/fleet/orders.js";
import { describeTarget } from "../support/describe-target.js";
import { engineClient } from "../support/sweep.js";
import { SECRET } from "./memory-fleet.js";

const id = `test${randomBytes(4).toString("hex")}`;

describeTarget("docker", "a fleet over Docker", () => {
  const provisioner = dockerProvisioner({ image: "glovebox/busybox" });
  afterAll(async () => {
    await wipeFleet(id);
    await provisioner.close();
  });

  it("claims a warm one, keeps files over pause and stop, exports them, and is seen and ended from the command line", async () => {
    let clock = 0;
    const clocks = { tickMs: 20, pauseAfterMs: 1_000, reconcileMs: 200 };
    await using fleet = createFleet({ provisioner, id, secret: SECRET, warm: { size: 1 }, clocks, now: () => clock });
    await expect.poll(() => fleet.metrics(), { timeout: 30_000 }).toContain(`glovebox_fleet_warm{fleet="${id}"} 1`);
    {
      await using lease = await fleet.acquire("ann", { tenant: "acme" });
      await lease.environment.writeFile("note", Buffer.from("kept"));
      const chunks: Uint8Array[] = [];
      await lease.environment.exec("id -u; pwd", { cwd: lease.environment.cwd, onOutput: (chunk) => void chunks.push(chunk) });
      expect(Buffer.concat(chunks).toString()).toBe("1000\n/workspace\n");
    }
    clock += 2_000;
    await expect.poll(() => fleet.list(), { timeout: 30_000 }).toMatchObject([{ state: "paused", owner: "this" }]);
    {
      await using lease = await fleet.acquire("ann", { tenant: "acme" });
      expect(Buffer.from((await lease.environment.readFile("note")).data).toString()).toBe("kept");
    }
    expect(await fleet.stop("ann", { tenant: "acme" })).toBe(true);
    const archive: Uint8Array[] = [];
    for await (const chunk of fleet.export("ann", { tenant: "acme" })) archive.push(chunk);
    expect(Buffer.concat(archive).toString("latin1")).toMatch(/\.\/note\0.*kept/s);
    await expect(fleet.export("bob")[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: "not_found" });

    const env = { GLOVEBOX_FLEET: id, GLOVEBOX_FLEET_SECRET: SECRET };
    const name = (await fleet.list())[0]?.name ?? "";
    const listed = await runCli(["ps", "--json"], { env });
    expect(JSON.parse(listed.stdout)).toMatchObject({ name, state: "running", owner: "other" });
    expect((await runCli(["rm", "ann", "--tenant", "acme"], { env })).stdout).toBe("removed ann\n");
    expect(await engineClient().listContainers({ all: true, filters: { name: [name] } })).toEqual([]);
    const { stdout } = await runCli(["gc", "--dry-run"], { env });
    expect(stdout).toBe("nothing to do\n");
    expect((await runCli(["ps"], { env: { GLOVEBOX_FLEET: id } })).code).toBe(2);
  }, 180_000);
});
