import { describe, expect, it } from "vitest";
import { memory } from "../../../adapters/memory/index.js";
import { openEnvironment } from "../../../src/environment.js";

const content = new TextEncoder().encode("new");

describe("the call log", () => {
  it("tells verb, path, what was asked, and how it came out", async () => {
    await using environment = await openEnvironment(memory({ files: { "a.txt": "one\ntwo\n" }, exec: { build: { exitCode: 2 } } }));
    await environment.readFile("a.txt", { lines: { start: 1, count: 1 } });
    await environment.writeFile("a.txt", content, { ifMatch: null }).catch(() => undefined);
    await environment.exec("build", { env: { MODE: "fast" }, stdin: new Uint8Array(2), onOutput() {} });
    await environment.readFile("missing").catch(() => undefined);
    expect(environment.calls.map(({ startedMs: _, durationMs: __, ...call }) => call)).toEqual([
      { verb: "readFile", path: "/workspace/a.txt", options: { lines: { start: 1, count: 1 } }, outcome: "ok" },
      { verb: "writeFile", path: "/workspace/a.txt", bytes: 3, options: { ifMatch: null }, outcome: "conflict" },
      {
        verb: "exec",
        path: "/workspace",
        command: "build",
        options: { env: { MODE: "fast" }, stdin: new Uint8Array(2) },
        outcome: "ok",
      },
      { verb: "readFile", path: "/workspace/missing", outcome: "not_found" },
    ]);
    const [first] = environment.calls;
    expect(first?.startedMs).toBeGreaterThan(Date.UTC(2020, 0));
    expect(first?.durationMs).toBeGreaterThanOrEqual(0);
  });

  it("shows a call that still runs as pending", async () => {
    await using environment = await openEnvironment(memory({ exec: { wait: { delayMs: Number.POSITIVE_INFINITY } } }));
    const controller = new AbortController();
    const run = environment.exec("wait", { signal: controller.signal });
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(environment.calls).toMatchObject([{ verb: "exec", command: "wait", outcome: "pending" }]);
    controller.abort();
    await expect(run).rejects.toMatchObject({ code: "aborted" });
    expect(environment.calls).toMatchObject([{ outcome: "aborted" }]);
  });

  it("keeps the last 10,000 calls", async () => {
    await using environment = await openEnvironment(memory());
    for (let count = 0; count < 10_050; count += 1) await environment.stat(".");
    expect(environment.calls.length).toBe(10_000);
  });
});

describe("M06 faults on cue", () => {
  it("failNext fails that verb, that often, and changes nothing", async () => {
    await using environment = await openEnvironment(memory({ files: { a: "old" } }));
    environment.failNext("writeFile", "no_space", 2);
    environment.failNext("writeFile", "permission_denied");
    await expect(environment.writeFile("a", content)).rejects.toMatchObject({ code: "no_space", verb: "writeFile", path: "/workspace/a" });
    await expect(environment.writeFile("a", content)).rejects.toMatchObject({ code: "no_space" });
    await expect(environment.writeFile("a", content)).rejects.toMatchObject({ code: "permission_denied" });
    expect(environment.snapshot()).toEqual({ a: "old" });
    await environment.writeFile("a", content);
    expect(environment.snapshot()).toEqual({ a: "new" });
  });

  it("delay holds a verb back, an abort ends the wait, and 0 ends the delay", async () => {
    await using environment = await openEnvironment(memory({ files: { a: "old" } }));
    environment.delay("writeFile", 30);
    const data = new TextEncoder().encode("held");
    const write = environment.writeFile("a", data);
    data.fill(0);
    expect(environment.snapshot()).toEqual({ a: "old" });
    await write;
    expect(environment.snapshot()).toEqual({ a: "held" });
    environment.delay("writeFile", 60_000);
    const controller = new AbortController();
    const held = environment.writeFile("a", content, { signal: controller.signal });
    controller.abort();
    await expect(held).rejects.toMatchObject({ code: "aborted" });
    environment.delay("writeFile", 0);
    expect(environment.snapshot()).toEqual({ a: "held" });
    await environment.writeFile("a", content);
  });
});
