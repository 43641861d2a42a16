import fc from "fast-check";
import { expect, it } from "vitest";
import type { Engines } from "../../src/fleet/index.js";
import { fleetNames } from "../../src/fleet/names.js";
import { type FakeEngine, fakeEngine, overWires } from "./fake-engines.js";
import { SECRET } from "./memory-fleet.js";

const ENGINES = ["a", "b", "c", "d"];
const names = fleetNames("test", SECRET);
const user = names.keyed({ key: "ann", tenant: "" });

/** Who holds the user's lock at this moment, and what was seen. */
interface Watch {
  holders: number;
  most: number;
  created: number;
  destroyed: number;
}

/** What a fleet does with its provisioner to bring a user's sandbox up, and down. */
async function useOnce(engines: Engines, act: "use" | "destroy", watch: Watch): Promise<void> {
  for (let tries = 0; tries < 6; tries += 1) {
    if (!(await engines.lock(user, names.search))) continue;
    watch.holders += 1;
    watch.most = Math.max(watch.most, watch.holders);
    try {
      const found = await engines.find(user);
      if (act === "destroy" && found !== undefined) {
        await engines.rename(found.id, names.doomed());
        watch.destroyed += 1;
        await engines.remove(found.id);
      } else if (act === "use" && found === undefined) {
        const labels = names.seal({ spec: "", created: "", volume: "" });
        const { id } = await engines.create({ name: names.spare(), labels, near: user });
        await engines.rename(id, user);
        watch.created += 1;
      }
    } finally {
      watch.holders -= 1;
      await engines.unlock(user);
    }
    return;
  }
}

const sandboxes = async (list: readonly FakeEngine[]): Promise<number> =>
  (await Promise.all(list.map(({ provisioner }) => provisioner.list({})))).flat().filter(({ name }) => name === user).length;

const attempt = async (work: Promise<unknown>): Promise<void> => void (await work.catch(() => undefined));

const acts = fc.array(fc.constantFrom("use" as const, "use" as const, "destroy" as const), { minLength: 1, maxLength: 3 });

it("in whatever order engines answer two processes, one at a time acts for a key, and there is one sandbox", async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), acts, acts, fc.integer({ min: 1, max: 4 }), async (scheduler, first, second, count) => {
      const list = ENGINES.slice(0, count).map((name) => fakeEngine(name));
      const pause = (call: string): Promise<void> => scheduler.schedule(Promise.resolve(), call);
      const watch: Watch = { holders: 0, most: 0, created: 0, destroyed: 0 };
      const run = async (own: typeof first): Promise<void> => {
        const engines = overWires(list, { pause }, { deadlineMs: 60_000 });
        for (const act of own) await useOnce(engines, act, watch);
      };
      await scheduler.waitFor(Promise.all([run(first), run(second)]));
      expect(watch.most).toBe(1);
      expect(await sandboxes(list)).toBe(watch.created - watch.destroyed);
      expect(await sandboxes(list)).toBeLessThanOrEqual(1);
    }),
    { numRuns: 150 },
  );
}, 120_000);

it("also where one of them cannot reach an engine that the other can, or an engine dies under them and comes back", async () => {
  const engine = fc.integer({ min: 0, max: 2 });
  const fault = fc.record({ cutOne: fc.option(engine), cutTwo: fc.option(engine), dies: fc.option(engine), after: fc.nat(60) });
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), acts, acts, fault, async (scheduler, first, second, { cutOne, cutTwo, dies, after }) => {
      const list = ENGINES.slice(0, 3).map((name) => fakeEngine(name));
      // Of three witnesses both reach one all the time.
      fc.pre(new Set([cutOne, cutTwo, dies].filter((one) => one !== null)).size < 3);
      let calls = 0;
      const pause = (call: string): Promise<void> => {
        calls += 1;
        const dying = dies === null ? undefined : list[dies];
        if (dying !== undefined && calls === after) dying.isDead = true;
        return scheduler.schedule(Promise.resolve(), call);
      };
      const watch: Watch = { holders: 0, most: 0, created: 0, destroyed: 0 };
      const wires = [cutOne, cutTwo].map((cut) => new Set(cut === null ? [] : [ENGINES[cut] ?? ""]));
      const processes = wires.map((cut) => overWires(list, { cut, pause }, { deadlineMs: 60_000 }));
      const run = async (engines: Engines | undefined, own: typeof first): Promise<void> => {
        for (const act of own) if (engines !== undefined) await attempt(useOnce(engines, act, watch));
      };
      await scheduler.waitFor(Promise.all([run(processes[0], first), run(processes[1], second)]));
      expect(watch.most).toBeLessThanOrEqual(1);
      expect(await sandboxes(list)).toBeLessThanOrEqual(1);

      for (const one of list) one.isDead = false;
      for (const cut of wires) cut.clear();
      const healed = overWires(list);
      const shown = (await healed.list(names.search)).filter(({ name }) => name === user);
      expect(shown).toHaveLength(await sandboxes(list));
      expect((await healed.find(user))?.id).toBe(shown[0]?.id);
      expect(healed.several.older()).toEqual([]);
      expect(await healed.several.lost(names.search)).toEqual([]);
    }),
    { numRuns: 300 },
  );
}, 120_000);
