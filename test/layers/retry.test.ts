import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/memory/index.js";
import type { GloveboxError } from "../../src/contract/errors.js";
import { openEnvironment } from "../../src/environment.js";
import { retry } from "../../src/layers/retry.js";
import { failure, scripted } from "./scripted.js";

async function open(...failures: readonly (GloveboxError | undefined)[]) {
  const { layer, calls } = scripted(failures);
  const target = memory({ files: { a: "x" }, exec: () => ({ exitCode: 0 }) });
  const environment = await openEnvironment(target, { layers: [retry({ attempts: 2, delayMs: 1 }), layer] });
  return { environment, calls };
}

describe("retry", () => {
  it.each(["disconnected", "busy", "not_started"] as const)("repeats a read that failed with %s, safely", async (code) => {
    const { environment, calls } = await open(failure(code), failure(code));
    expect((await environment.stat("a")).size).toBe(1);
    expect(calls.map(({ verb }) => verb)).toEqual(["stat", "stat", "stat"]);
  });

  it("repeats every kind of read", async () => {
    const lost = failure("disconnected");
    const { environment, calls } = await open(lost, undefined, lost, undefined, lost, undefined, lost, undefined, lost);
    await environment.readFile("a");
    await environment.readdir(".");
    await environment.realpath("a");
    await environment.grep(".", { pattern: "x", limit: 1 });
    await environment.find(".", { pattern: "*", limit: 1 });
    expect(calls).toHaveLength(10);
  });

  it("gives up after its attempts, with the last error", async () => {
    const { environment, calls } = await open(...Array.from({ length: 9 }, () => failure("disconnected")));
    await expect(environment.stat("a")).rejects.toMatchObject({ code: "disconnected" });
    expect(calls).toHaveLength(3);
  });

  it("repeats nothing that is not said to be safe, nor what time does not cure", async () => {
    const { environment, calls } = await open(failure("disconnected", false), failure("not_found"), failure("timeout"));
    for (const code of ["disconnected", "not_found", "timeout"]) await expect(environment.stat("a")).rejects.toMatchObject({ code });
    expect(calls).toHaveLength(3);
  });

  it("F5 never repeats a command or a write, whatever their error says", async () => {
    const { environment, calls } = await open(failure("not_started"), failure("disconnected"));
    await expect(environment.exec("true")).rejects.toMatchObject({ code: "not_started" });
    await expect(environment.writeFile("b", new Uint8Array())).rejects.toMatchObject({ code: "disconnected" });
    expect(calls).toHaveLength(2);
  });

  it("stops when aborted", async () => {
    const abort = new AbortController();
    const { layer, calls } = scripted(Array.from({ length: 9 }, () => failure("disconnected")));
    const environment = await openEnvironment(memory(), { layers: [retry({ attempts: 8, delayMs: 20 }), layer] });
    const call = environment.stat("a", { signal: abort.signal });
    setTimeout(() => abort.abort(), 5);
    await expect(call).rejects.toMatchObject({ code: "disconnected" });
    expect(calls.length).toBeLessThan(9);
  });
});
