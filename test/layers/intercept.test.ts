import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/memory/index.js";
import type { VerbCall } from "../../src/contract/target.js";
import { openEnvironment } from "../../src/environment.js";
import { intercept } from "../../src/layers/intercept.js";

const noop = intercept((_call, next) => next());

describe("intercept", () => {
  it("sees every verb with what it acts on", async () => {
    const calls: VerbCall[] = [];
    const layer = intercept(async (call, next) => {
      calls.push(call);
      return await next();
    });
    const environment = await openEnvironment(memory({ files: { a: "x" }, exec: () => ({}) }), { layers: [layer] });
    const { signal } = new AbortController();
    await environment.readFile("a", { signal });
    await environment.writeFile("b", new Uint8Array(3), { signal });
    await environment.stat("a", { signal });
    await environment.readdir(".", { signal });
    await environment.realpath("a", { signal });
    await environment.exec("ls", { cwd: ".", signal });
    await environment.exec("ls");
    await environment.grep(".", { pattern: "x", limit: 1 }, { signal });
    await environment.find(".", { pattern: "*", limit: 1 }, { signal });
    expect(calls).toEqual([
      { verb: "readFile", path: "a", signal },
      { verb: "writeFile", path: "b", bytes: 3, signal },
      { verb: "stat", path: "a", signal },
      { verb: "readdir", path: ".", signal },
      { verb: "realpath", path: "a", signal },
      { verb: "exec", path: ".", text: "ls", signal },
      { verb: "exec", path: undefined, text: "ls", signal: undefined },
      { verb: "grep", path: ".", text: "x", signal },
      { verb: "find", path: ".", text: "*", signal },
    ]);
  });

  it("is invisible when it does nothing, a hundred times over", async () => {
    const inner = await openEnvironment(memory({ files: { a: "x" } }));
    const outer = Array.from({ length: 100 }).reduce<typeof inner>((environment) => noop(environment) as typeof inner, inner);
    expect(await outer.readFile("a")).toEqual(await inner.readFile("a"));
    await expect(outer.stat("none")).rejects.toMatchObject({ code: "not_found", verb: "stat", path: "/workspace/none" });
    expect(outer.calls).toBe(inner.calls);
    expect(outer.mutationKey("x")).toBe(inner.mutationKey("x"));
    const { id, cwd, label, kind, capabilities, spoolDirectory } = inner;
    expect(outer).toMatchObject({ id, cwd, label, kind, capabilities, spoolDirectory });
    await outer.close();
    await expect(inner.stat("a")).rejects.toMatchObject({ code: "gone" });
  });
});
