import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/memory/index.js";
import { openEnvironment } from "../../src/environment.js";
import { contractCases, openContract, runContract } from "../../src/testing/index.js";

describe("the contract cases", () => {
  it("have names that are unique in their theme", () => {
    const names = contractCases.map(({ theme, name }) => `${theme}: ${name}`);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it("the quick ones prepare nothing beside the verbs: they run without a host", async () => {
    const quick = contractCases.filter((each) => each.quick);
    expect(quick.length).toBeGreaterThan(25);
    const target = memory();
    const results = await runContract({ open: () => openEnvironment(target), cases: quick });
    expect(results.filter(({ outcome }) => outcome === "failed")).toEqual([]);
    expect(results.filter(({ outcome }) => outcome === "skipped").every(({ reason }) => reason?.startsWith("needs "))).toBe(true);
    await using environment = await openEnvironment(target);
    expect(environment.calls).toEqual([]);
  });

  it("each promise that needs no processes is checked on some memory target", async () => {
    const { memoryHost } = await import("../contract/memory-host.js");
    const sessions = await Promise.all(
      [memory(), memory({ enforceModes: true }), memory({ cwd: "/srv/root", root: "/srv/root" }), memory({ exec: {} })].map(
        (target, index) => openContract({ open: () => openEnvironment(target), host: memoryHost, ordinaryUser: index === 1 }),
      ),
    );
    const unchecked = contractCases.filter((each) => sessions.every((session) => session.skipReason(each) !== undefined));
    expect(unchecked.filter(({ needs = [] }) => !needs.some((need) => ["processes", "bash", "superuser"].includes(need)))).toEqual([]);
    await Promise.all(sessions.map((session) => session.close()));
  });
});
