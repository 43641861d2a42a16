import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/memory/index.js";
import type { SharedProvisioner, VolumeCopy } from "../../src/contract/target.js";
import { targetProvisioner } from "../../src/fleet/index.js";
import { altered, memoryFleet, until } from "./memory-fleet.js";

const bytes = (text: string): Uint8Array => Buffer.from(text);

async function textOf(scene: ReturnType<typeof memoryFleet>, key: string, path = "note"): Promise<string> {
  await using lease = await scene.fleet.acquire(key);
  return Buffer.from((await lease.environment.readFile(path)).data).toString();
}

async function write(scene: ReturnType<typeof memoryFleet>, key: string, text: string): Promise<void> {
  await using lease = await scene.fleet.acquire(key);
  await lease.environment.writeFile("note", bytes(text));
}

describe("snapshots", () => {
  it("keep what was there, outlive the sandbox, and start another, as often as wanted", async () => {
    await using scene = memoryFleet({
      config: () => ({ prepare: async (environment) => void (await environment.writeFile("prepared", bytes(""))) }),
    });
    await write(scene, "ann", "one");
    const lease = await scene.fleet.acquire("ann");
    const { id, sandbox, createdMs } = await scene.fleet.snapshot("ann");
    expect(sandbox).toBe(lease.sandbox);
    expect(Math.abs(Date.now() - createdMs)).toBeLessThan(60_000);
    await lease.environment.writeFile("note", bytes("two"));
    await lease.release();
    expect(await scene.fleet.list()).toMatchObject([{ state: "running" }]);
    await scene.fleet.destroy("ann");
    expect((await scene.fleet.reconcile()).map(({ what, verdict }) => `${what} ${verdict}`)).toEqual(["volume keep", "volume keep"]);
    expect(await scene.fleet.snapshots()).toEqual([{ id, sandbox, createdMs }]);
    expect(await scene.fleet.snapshots({ key: "bob" })).toEqual([]);
    for (const key of ["ann", "bob"]) {
      await (await scene.fleet.acquire(key, { from: id })).release();
      expect(await textOf(scene, key)).toBe("one");
    }
    await write(scene, "bob", "three");
    expect(await textOf(scene, "ann")).toBe("one");
    await expect(scene.fleet.acquire("bob", { from: id })).rejects.toMatchObject({ code: "exists" });
    expect(await scene.fleet.removeSnapshot(id)).toBe(true);
    expect(await scene.fleet.removeSnapshot(id)).toBe(false);
    await expect(scene.fleet.acquire("cid", { from: id })).rejects.toMatchObject({ code: "not_found" });
    for (const key of ["ann", "bob"]) await scene.fleet.destroy(key);
    expect(await scene.provisioner.volumes({})).toEqual([]);
  });

  it("are forked into another user's sandbox, of the same tenant only", async () => {
    await using scene = memoryFleet();
    await write(scene, "ann", "one");
    await scene.fleet.fork("ann", "bob");
    expect(await textOf(scene, "bob")).toBe("one");
    await expect(scene.fleet.fork("ann", "bob")).rejects.toMatchObject({ code: "exists" });
    await expect(scene.fleet.fork("nobody", "cid")).rejects.toMatchObject({ code: "not_found" });
    expect(await scene.fleet.snapshots()).toEqual([]);
    const { id } = await scene.fleet.snapshot("ann");
    await expect(scene.fleet.acquire("eve", { tenant: "evil", from: id })).rejects.toMatchObject({ code: "permission_denied" });
    expect(await scene.fleet.list()).toHaveLength(2);
  });

  it("need volumes, and a provisioner that copies them", async () => {
    await using without = memoryFleet({ volumes: false });
    await (await without.fleet.acquire("ann")).release();
    await expect(without.fleet.snapshot("ann")).rejects.toMatchObject({ code: "unsupported" });
    const { copyVolume: _, ...provisioner } = targetProvisioner({ target: () => memory() });
    await using plain = memoryFleet({ provisioner });
    await (await plain.fleet.acquire("ann")).release();
    await expect(plain.fleet.snapshot("ann")).rejects.toMatchObject({ code: "unsupported" });
  });
});

/** A provisioner whose copies fail, by their number. */
function failing(base: SharedProvisioner, fails: (copy: VolumeCopy) => boolean): SharedProvisioner {
  return altered(base, {
    async copyVolume(copy) {
      if (fails(copy)) throw new Error("disk full");
      await base.copyVolume?.(copy);
    },
  });
}

describe("what is left half made", () => {
  it("is nothing where a copy fails: not the volume, not the name, and the sandbox runs on", async () => {
    const base = targetProvisioner({ target: () => memory() });
    let fails: (copy: VolumeCopy) => boolean = () => false;
    await using scene = memoryFleet({ provisioner: failing(base, (copy) => fails(copy)) });
    await write(scene, "ann", "one");
    const before = (await base.volumes({})).map(({ name }) => name);
    for (const which of [({ from }: VolumeCopy) => from !== undefined, ({ from }: VolumeCopy) => from === undefined]) {
      fails = which;
      await expect(scene.fleet.snapshot("ann")).rejects.toThrow("disk full");
      expect((await base.volumes({})).map(({ name }) => name)).toEqual(before);
      expect(await scene.fleet.snapshots()).toEqual([]);
    }
    fails = () => false;
    const { id } = await scene.fleet.snapshot("ann");
    fails = () => true;
    await expect(scene.fleet.acquire("bob", { from: id })).rejects.toThrow("disk full");
    expect(await base.list({})).toHaveLength(1);
    expect(await textOf(scene, "ann")).toBe("one");
  });

  it("is removed at the next look: a copy without its mark, a mark without its copy", async () => {
    const provisioner = targetProvisioner({ target: () => memory() });
    await using scene = memoryFleet({ provisioner });
    await write(scene, "ann", "one");
    const { id } = await scene.fleet.snapshot("ann");
    const { labels = {} } = (await provisioner.volumes({})).find(({ name }) => name === id) ?? {};
    const data = labels["glovebox.fleet.volume"] ?? "";
    // As if the process had died between the two removals.
    await provisioner.removeVolume(data);
    expect(await scene.fleet.reconcile()).toContainEqual(expect.objectContaining({ name: id, verdict: "remove" }));
    expect(await scene.fleet.snapshots()).toEqual([]);
    const again = await scene.fleet.snapshot("ann");
    await provisioner.removeVolume(again.id);
    await scene.fleet.reconcile();
    await until(async () => (await provisioner.volumes({})).filter(({ isLock }) => !isLock).length === 1);
    expect(await textOf(scene, "ann")).toBe("one");
  });

  it("is not taken for that when a look at the engine began before the snapshot was whole", async () => {
    const base = targetProvisioner({ target: () => memory() });
    let meanwhile = async (): Promise<unknown> => undefined;
    const provisioner = altered(base, {
      async list(labels) {
        const before = meanwhile;
        meanwhile = async () => undefined;
        await before();
        return await base.list(labels);
      },
      async volumes(labels) {
        const volumes = await base.volumes(labels);
        // The mark came after this answer.
        return hidesMarks ? volumes.filter(({ name }) => !name.includes("-s-")) : volumes;
      },
    });
    let hidesMarks = false;
    await using scene = memoryFleet({ provisioner });
    await write(scene, "ann", "one");
    const { id } = await scene.fleet.snapshot("ann");
    hidesMarks = true;
    meanwhile = async () => {
      hidesMarks = false;
    };
    await scene.fleet.reconcile();
    await (await scene.fleet.acquire("bob", { from: id })).release();
    expect(await textOf(scene, "bob")).toBe("one");
  });

  it("T15 a forged snapshot is left alone and never used", async () => {
    const provisioner = targetProvisioner({ target: () => memory() });
    await using scene = memoryFleet({ provisioner });
    await write(scene, "ann", "one");
    const { id } = await scene.fleet.snapshot("ann");
    const { labels = {} } = (await provisioner.volumes({})).find(({ name }) => name === id) ?? {};
    const forged = `${id.slice(0, -16)}${"0".repeat(16)}`;
    await provisioner.copyVolume?.({ to: forged, labels });
    await expect(scene.fleet.acquire("bob", { from: forged })).rejects.toMatchObject({ code: "not_found" });
    expect(await scene.fleet.reconcile()).toContainEqual(expect.objectContaining({ name: forged, verdict: "foreign" }));
  });
});
