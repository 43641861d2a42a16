import { describe, expect, it } from "vitest";
import { type FakeEngine, fakeEngine, overWires, type Wire } from "./fake-engines.js";
import { type MemoryFleet, memoryFleet, until } from "./memory-fleet.js";

const text = (data: Uint8Array): string => Buffer.from(data).toString();
const bytes = (content: string): Uint8Array => Buffer.from(content);

/** A process of the fleet, whose engines are asked again in an instant. */
function processOver(list: readonly FakeEngine[], wire: Wire = {}): MemoryFleet {
  let clock = 0;
  // Every question finds that the time to ask a dead one again has come.
  const provisioner = overWires(list, wire, { deadlineMs: 200, now: () => (clock += 60_000) });
  return memoryFleet({ provisioner, clocks: { tickMs: 5, reconcileMs: 1 }, now: () => performance.now() });
}

async function write(scene: MemoryFleet, key: string, content: string): Promise<string> {
  await using lease = await scene.fleet.acquire(key);
  await lease.environment.writeFile("note", bytes(content));
  return lease.sandbox;
}

async function read(scene: MemoryFleet, key: string): Promise<string> {
  await using lease = await scene.fleet.acquire(key);
  return text((await lease.environment.readFile("note")).data);
}

async function engineOf(scene: MemoryFleet, key: string): Promise<string | undefined> {
  return (await scene.fleet.list()).find(({ user }) => user?.key === key)?.engine;
}

const named = (list: readonly FakeEngine[], name: string | undefined): FakeEngine => {
  const found = list.find((engine) => engine.name === name);
  if (found === undefined) throw new Error(`no engine ${name}`);
  return found;
};
const usersAt = async (engine: FakeEngine): Promise<number> =>
  (await engine.provisioner.list({})).filter(({ name }) => name.includes("-k-")).length;
const notesAt = async (engine: FakeEngine): Promise<number> =>
  (await engine.provisioner.volumes({})).filter(({ name }) => name.includes(".at")).length;

describe("placement", () => {
  it("is where the image is, then where memory is left, counting what is being made", async () => {
    const list = [
      fakeEngine("bare", { hasImage: false, freeBytes: 9_000 }),
      fakeEngine("small", { freeBytes: 250 }),
      fakeEngine("large", { freeBytes: 400 }),
    ];
    await using scene = processOver(list);
    await Promise.all(["a", "b", "c"].map((key) => write(scene, key, key)));
    expect(await Promise.all(list.map(usersAt))).toEqual([0, 1, 2]);
    list[1] = Object.assign(named(list, "small"), { isDead: true });
    named(list, "large").isDead = true;
    await write(scene, "d", "d").catch(() => undefined);
    await until(async () => (await write(scene, "e", "e").catch(() => undefined)) !== undefined);
    expect(await usersAt(named(list, "bare"))).toBeGreaterThan(0);
  });

  it("tells of an engine that no longer exists, or was named twice", () => {
    expect(() => overWires([])).toThrow("Engines need names");
    expect(() => overWires([fakeEngine("a"), fakeEngine("a")])).toThrow('not ["a","a"]');
  });
});

describe("two processes over three engines", () => {
  it("have one sandbox for one key, wherever their warm ones are, and hand it over", async () => {
    const list = ["a", "b", "c"].map((name) => fakeEngine(name));
    await using one = processOver(list);
    await using two = memoryFleet({ provisioner: overWires(list), warm: { size: 3, paused: false } });
    await until(() => two.fleet.metrics().includes('glovebox_fleet_warm{fleet="test"} 3'));
    for (const key of ["k1", "k2", "k3", "k4"]) {
      const [first, second] = await Promise.all([one, two].map((scene) => write(scene, key, key)));
      expect(first).toBe(second);
      expect([await read(one, key), await read(two, key)]).toEqual([key, key]);
    }
    const counts = await Promise.all(list.map(usersAt));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(4);
    for (const key of ["k1", "k2", "k3", "k4"]) expect(await one.fleet.destroy(key)).toBe(true);
    expect(await Promise.all(list.map(notesAt))).toEqual([0, 0, 0]);
  });
});

describe("an engine that was taken over", () => {
  it("cannot call a user of another engine there: a note without the fleet's seal is nobody's", async () => {
    const list = ["a", "b", "c"].map((name) => fakeEngine(name));
    await using scene = processOver(list);
    const user = await write(scene, "ann", "ann's");
    const own = await engineOf(scene, "ann");
    const evil = list.find(({ name }) => name !== own)?.name ?? "";
    for (const { provisioner } of list) {
      await provisioner.mark(`${user}.at9`, {
        "glovebox.fleet.id": "test",
        "glovebox.fleet.place": user,
        "glovebox.fleet.place-engine": evil,
        "glovebox.fleet.place-generation": "9",
        "glovebox.fleet.place-ms": String(Date.now() + 1e9),
        "glovebox.fleet.place-seal": "0".repeat(64),
      });
    }
    await named(list, evil).provisioner.create({ name: user, labels: { "glovebox.fleet.id": "test" } });
    await using other = processOver(list);
    expect([await read(other, "ann"), await engineOf(other, "ann")]).toEqual(["ann's", own]);
  });
});

describe("snapshots over three engines", () => {
  it("stay where the sandbox was, and so do their forks", async () => {
    const list = ["a", "b", "c"].map((name) => fakeEngine(name, { freeBytes: 1_000 }));
    await using scene = processOver(list);
    await write(scene, "ann", "ann's");
    const engine = await engineOf(scene, "ann");
    for (const each of list) if (each.name !== engine) each.capacity = { ...each.capacity, freeBytes: 9_000 };
    const { id } = await scene.fleet.snapshot("ann");
    expect(await scene.fleet.destroy("ann")).toBe(true);
    await (await scene.fleet.acquire("bob", { from: id })).release();
    expect(await engineOf(scene, "bob")).toBe(engine);
    await write(scene, "cid", "elsewhere");
    expect(await engineOf(scene, "cid")).not.toBe(engine);
    expect(await scene.fleet.removeSnapshot(id)).toBe(true);
  });
});

describe("an engine that dies", () => {
  it("is marked, told, counted and routed around; its users are told where they are, and find all again", async () => {
    const list = ["a", "b", "c"].map((name) => fakeEngine(name));
    await using scene = processOver(list);
    await write(scene, "ann", "ann's");
    const dead = named(list, await engineOf(scene, "ann"));
    dead.isDead = true;
    await until(() => scene.acts().includes("engine_lost"));
    expect(scene.events).toContainEqual(
      expect.objectContaining({ act: "engine_lost", message: `The engine ${dead.name} is marked dead: No answer from ${dead.name}.` }),
    );
    expect(scene.fleet.metrics()).toContain(`glovebox_fleet_engine_alive{fleet="test",engine="${dead.name}"} 0`);
    await write(scene, "bob", "bob's");
    expect(await engineOf(scene, "bob")).not.toBe(dead.name);
    expect(await scene.fleet.list()).toContainEqual(expect.objectContaining({ user: { key: "ann", tenant: "" }, state: "lost" }));
    await expect(scene.fleet.acquire("ann")).rejects.toMatchObject({ code: "disconnected", details: { engine: dead.name } });
    await expect(scene.fleet.destroy("ann")).rejects.toMatchObject({ code: "disconnected" });

    dead.isDead = false;
    await until(() => scene.acts().includes("engine_restored"));
    expect(await read(scene, "ann")).toBe("ann's");
  });

  it("is routed around by the very call that finds it dead", async () => {
    const list = ["a", "b", "c", "d"].map((name) => fakeEngine(name));
    await using scene = memoryFleet({ provisioner: overWires(list), clocks: { reconcileMs: 60_000 } });
    for (let key = 0; key < 8; key += 1) {
      if (key === 2) named(list, "a").isDead = true;
      if (key === 5) named(list, "d").isDead = true;
      await write(scene, `user ${key}`, "x");
    }
    expect((await scene.fleet.list()).length).toBe(8);
  });

  it("leaves keys that a process knows to be lost which has started since, and are never made anew unasked", async () => {
    const list = ["a", "b", "c", "d"].map((name) => fakeEngine(name));
    const first = processOver(list);
    for (let key = 0; key < 8; key += 1) await write(first, `user ${key}`, `${key}`);
    const dead = named(list, await engineOf(first, "user 0"));
    const lost = (await first.fleet.list()).filter(({ engine }) => engine === dead.name);
    await first.fleet.close();
    dead.isDead = true;

    await using scene = processOver(list);
    await expect(scene.fleet.acquire("user 0")).rejects.toMatchObject({
      code: "disconnected",
      message: expect.stringMatching(/is at the engine \w, which does not answer .* or acquire it with recreateLost/),
      details: { engine: dead.name, option: "recreateLost" },
    });
    const found = (await scene.fleet.list()).filter(({ state }) => state === "lost");
    expect(found.map(({ name, engine }) => ({ name, engine }))).toEqual(
      lost.map(({ name }) => ({ name, engine: dead.name })).sort((one, other) => (one.name < other.name ? -1 : 1)),
    );
    dead.isDead = false;
    await until(() => scene.acts().includes("engine_restored"));
    for (let key = 0; key < 8; key += 1) expect(await read(scene, `user ${key}`)).toBe(`${key}`);
  });

  it("and all that know a key: then nobody can tell, and nothing is made", async () => {
    const list = ["a", "b"].map((name) => fakeEngine(name));
    const first = processOver(list);
    await write(first, "ann", "ann's");
    await first.fleet.close();
    for (const engine of list) engine.isDead = true;
    const provisioner = overWires(list);
    await expect(provisioner.find(`gbf-test-k-${"0".repeat(12)}-${"0".repeat(32)}`)).rejects.toMatchObject({
      code: "disconnected",
      message: expect.stringContaining("cannot be told"),
    });
    await expect(provisioner.list({})).rejects.toMatchObject({ code: "disconnected" });
  });

  it("while a new user's sandbox is made there: the user is not lost, for there was nothing", async () => {
    const list = [fakeEngine("a", { freeBytes: 900 }), fakeEngine("b", { freeBytes: 500 })];
    const [a] = list;
    await using scene = processOver(list, {
      async pause(call) {
        if (call === "a create" && a !== undefined) a.isDead = true;
      },
    });
    await expect(scene.fleet.acquire("ann")).rejects.toMatchObject({ code: "disconnected" });
    expect(await write(scene, "ann", "x")).toContain("gbf-test-k-");
    expect(await engineOf(scene, "ann")).toBe("b");
  });

  it("or hangs: what is asked of it settles by the deadline, and then at once", async () => {
    const list = ["a", "b", "c"].map((name) => fakeEngine(name));
    const hangs = { name: "" };
    await using scene = processOver(list, {
      pause: async (call) => await new Promise((resolve) => (call.startsWith(`${hangs.name} `) ? undefined : resolve())),
    });
    await write(scene, "ann", "ann's");
    hangs.name = (await engineOf(scene, "ann")) ?? "";
    await until(() => scene.acts().includes("engine_lost"));
    await write(scene, "bob", "bob's");
    expect(await engineOf(scene, "bob")).not.toBe(hangs.name);
  });
});

describe("a sandbox that was lost and is made anew", () => {
  async function recreated(list: readonly FakeEngine[], scene: MemoryFleet): Promise<FakeEngine> {
    await write(scene, "ann", "old");
    const dead = named(list, await engineOf(scene, "ann"));
    dead.isDead = true;
    await until(() => scene.acts().includes("engine_lost"));
    await using lease = await scene.fleet.acquire("ann", { recreateLost: true });
    await expect(lease.environment.readFile("note")).rejects.toMatchObject({ code: "not_found" });
    await lease.environment.writeFile("note", bytes("new"));
    return dead;
  }

  it("stays its user's when the engine is back; the older one is reported and kept, and is there again after the newer", async () => {
    const list = ["a", "b", "c"].map((name) => fakeEngine(name));
    await using scene = processOver(list);
    const back = await recreated(list, scene);
    back.isDead = false;
    await until(() => scene.acts().includes("foreign"));
    await using other = processOver(list);
    expect([await read(scene, "ann"), await read(other, "ann")]).toEqual(["new", "new"]);
    const older = (await scene.fleet.survey()).filter(({ verdict }) => verdict === "foreign");
    expect(older).toMatchObject([{ what: "sandbox", why: expect.stringContaining(`the engine ${back.name} has this older sandbox`) }]);
    expect(await scene.fleet.list()).toHaveLength(1);
    expect(await usersAt(back)).toBe(1);

    expect(await scene.fleet.destroy("ann")).toBe(true);
    expect(await read(scene, "ann")).toBe("old");
  });

  it("is not made anew when its engine answers after all", async () => {
    const list = ["a", "b"].map((name) => fakeEngine(name));
    await using scene = processOver(list);
    await write(scene, "ann", "old");
    await using lease = await scene.fleet.acquire("ann", { recreateLost: true });
    expect(text((await lease.environment.readFile("note")).data)).toBe("old");
  });

  it("takes the user along from a process that still reached the engine", async () => {
    const list = ["a", "b", "c"].map((name) => fakeEngine(name));
    const cut = new Set<string>();
    await using near = processOver(list);
    await using far = processOver(list, { cut });
    await write(near, "ann", "old");
    cut.add((await engineOf(near, "ann")) ?? "");
    await until(() => far.acts().includes("engine_lost"));
    {
      await using lease = await far.fleet.acquire("ann", { recreateLost: true });
      await lease.environment.writeFile("note", bytes("new"));
    }
    await until(() => near.acts().includes("yielded"));
    expect(await read(near, "ann")).toBe("new");
  });
});
