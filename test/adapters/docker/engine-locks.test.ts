import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { afterAll, expect, it } from "vitest";
import { connectEngine } from "../../../adapters/docker/engine.js";
import { engineLocks } from "../../../adapters/docker/engine-locks.js";
import { makerOf, ownerLabels } from "../../../adapters/docker/owner.js";
import { listVolumes } from "../../../adapters/docker/volumes.js";
import { describeTarget } from "../../support/describe-target.js";
import { currentRun, testLabel } from "../../support/run-identity.js";
import { engineClient } from "../../support/sweep.js";

describeTarget("docker", "locks at the engine", () => {
  const engine = connectEngine();
  const name = `lock-${randomBytes(6).toString("hex")}`;
  const labels = { [testLabel]: currentRun() };
  afterAll(() => engine.close());

  it("are held by one of many who ask at once", async () => {
    const all = Array.from({ length: 8 }, () => engineLocks(engine));
    const taken = await Promise.all(all.flatMap((locks) => [locks.take(name, labels), locks.take(name, labels)]));
    expect(taken.filter(Boolean)).toHaveLength(1);
    const at = Math.floor(taken.indexOf(true) / 2);
    const holder = all[at];
    expect(await all[(at + 1) % 8]?.take(name, labels)).toBe(false);
    await holder?.release(name);
    await holder?.release(name);
    expect(await all[0]?.take(name, labels)).toBe(true);
    await all[0]?.release(name);
  });

  it("of a dead holder are broken, by one of many", async () => {
    const { pid } = spawnSync("true");
    const [host, boot, namespace] = (ownerLabels("provisioned")["glovebox.owner"] ?? "").split(":");
    const dead = { "glovebox.owner": `${host}:${boot}:${namespace}:${pid}:1`, "glovebox.volume": "lock", "glovebox.holder": "dead" };
    await engineClient().createVolume({ Name: name, Labels: { ...labels, ...dead } });
    expect(makerOf(dead)).toBe("dead");
    const all = Array.from({ length: 6 }, () => engineLocks(engine));
    const taken = await Promise.all(all.map((locks) => locks.take(name, labels)));
    expect(taken.filter(Boolean).length).toBeLessThanOrEqual(1);
    const [holder = all[0]] = taken.includes(true) ? [all[taken.indexOf(true)]] : [];
    if (!taken.includes(true)) expect(await holder?.take(name, labels)).toBe(true);
    expect((await listVolumes(engine, labels)).filter((volume) => volume.name.startsWith(name))).toMatchObject([
      { name, isLock: true, maker: "self" },
    ]);
    await holder?.release(name);
  });
});
