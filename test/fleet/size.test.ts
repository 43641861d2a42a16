import { expect, it } from "vitest";
import { memoryFleet, until } from "./memory-fleet.js";

const MINUTE = 60_000;

it("tells what a workspace holds, and refuses writes beyond the bound until files are gone", async () => {
  await using scene = memoryFleet({ maxWorkspaceBytes: 1_000, clocks: { measureMs: MINUTE, pauseAfterMs: 100 * MINUTE } });
  await expect(scene.fleet.size("ann")).rejects.toMatchObject({ code: "not_found" });
  const lease = await scene.fleet.acquire("ann");
  await lease.environment.writeFile("a/big", Buffer.alloc(1_500));
  await lease.environment.writeFile("small", Buffer.alloc(10));
  await scene.pass(2 * MINUTE);
  await until(() => scene.acts().includes("over_quota"));
  expect(await scene.fleet.list()).toMatchObject([{ workspaceBytes: 1_510 }]);
  const refused = lease.environment.writeFile("more", Buffer.alloc(1));
  await expect(refused).rejects.toMatchObject({ code: "no_space", details: { bytes: 1_510, maxBytes: 1_000 } });
  expect((await lease.environment.readFile("small")).size).toBe(10);
  await scene.pass(2 * MINUTE);
  expect(scene.acts().filter((act) => act === "over_quota")).toHaveLength(1);
  (lease.environment as unknown as { disk: { remove(path: string): void } }).disk.remove("a/big");
  await lease.environment.writeFile("more", Buffer.alloc(1));
  await lease.release();
  expect(await scene.fleet.size("ann")).toBe(11);
});

it("measures nothing by itself where there is no bound", async () => {
  await using scene = memoryFleet({ clocks: { measureMs: 1 } });
  await using lease = await scene.fleet.acquire("ann");
  await lease.environment.writeFile("a", Buffer.alloc(10));
  await scene.pass(MINUTE);
  const [listed] = await scene.fleet.list();
  expect(listed?.workspaceBytes).toBeUndefined();
});
