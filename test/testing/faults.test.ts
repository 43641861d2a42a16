import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/memory/index.js";
import { openEnvironment } from "../../src/environment.js";
import { type FaultPlan, faults } from "../../src/testing/index.js";

const data = new TextEncoder().encode("new");
const open = (plan: Parameters<typeof faults>[0]) => openEnvironment(memory({ files: { a: "old" } }), { layers: [faults(plan)] });

describe("faults", () => {
  it("fails a call before it has run", async () => {
    await using environment = await open([{ verb: "writeFile", nth: 1, fault: { fail: "disconnected" } }]);
    await expect(environment.writeFile("a", data)).rejects.toMatchObject({
      code: "disconnected",
      verb: "writeFile",
      path: "a",
      retrySafe: true,
    });
    expect(environment.snapshot()).toEqual({ a: "old" });
    await environment.writeFile("a", data);
    expect(environment.snapshot()).toEqual({ a: "new" });
  });

  it("cuts the answer of a call that has run", async () => {
    await using environment = await open([{ verb: "writeFile", nth: 2, fault: { cut: "unknown_outcome" } }]);
    await environment.writeFile("b", data);
    await expect(environment.writeFile("a", data)).rejects.toMatchObject({ code: "unknown_outcome", retrySafe: false });
    expect(environment.snapshot()).toEqual({ a: "new", b: "new" });
  });

  it("delays, and an abort ends the wait before the verb runs", async () => {
    await using environment = await open([{ verb: "writeFile", fault: { delayMs: 60_000 } }]);
    const controller = new AbortController();
    const write = environment.writeFile("a", data, { signal: controller.signal });
    controller.abort();
    await expect(write).rejects.toMatchObject({ code: "aborted" });
    expect(environment.snapshot()).toEqual({ a: "old" });
    expect(environment.calls).toEqual([]);
  });

  it("asks a plan about every call, with its number", async () => {
    const asked: string[] = [];
    const plan: FaultPlan = ({ verb, path }, nth) => {
      asked.push(`${verb} ${path} ${nth}`);
      return nth === 2 ? { fail: "busy", delayMs: 1 } : undefined;
    };
    await using environment = await open(plan);
    await environment.stat("a");
    await environment.readFile("a");
    await expect(environment.readFile("a")).rejects.toMatchObject({ code: "busy" });
    expect(asked).toEqual(["stat a 1", "readFile a 1", "readFile a 2"]);
  });
});
