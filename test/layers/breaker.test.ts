import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/memory/index.js";
import type { GloveboxEvent } from "../../src/contract/events.js";
import { openEnvironment } from "../../src/environment.js";
import { breaker } from "../../src/layers/breaker.js";
import { failure, scripted } from "./scripted.js";

async function open(failures: Parameters<typeof scripted>[0], cooldownMs: number) {
  const { layer, calls } = scripted(failures);
  const events: GloveboxEvent[] = [];
  const target = memory({ files: { a: "x" }, exec: () => ({ exitCode: 0 }) });
  const options = { layers: [breaker({ failures: 2, cooldownMs }), layer], onEvent: (event: GloveboxEvent) => events.push(event) };
  const environment = await openEnvironment(target, options);
  const states = () => events.flatMap((event) => (event.type === "target_breaker" ? [event.state] : []));
  return { environment, calls, states };
}
const lost = failure("disconnected");
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe("breaker", () => {
  it("opens after so many lost calls in a row, and fails at once from then on", async () => {
    const { environment, calls, states } = await open([lost, lost], 60_000);
    await expect(environment.stat("a")).rejects.toBe(lost);
    await expect(environment.exec("true")).rejects.toBe(lost);
    await expect(environment.readFile("a")).rejects.toMatchObject({
      code: "disconnected",
      message:
        "memory: was not asked: it has not answered 2 times in a row. It is tried again 60 s after the last failure; work elsewhere until then.",
      retrySafe: true,
    });
    expect(calls).toHaveLength(2);
    expect(states()).toEqual(["open"]);
  });

  it("takes any answer for an answer, refusals too", async () => {
    const { environment, states } = await open([lost, failure("not_found"), lost, undefined, lost], 60_000);
    for (let call = 0; call < 5; call += 1) await environment.stat("a").catch(() => undefined);
    expect(states()).toEqual([]);
  });

  it("tries the working directory after its time, and closes when that answers", async () => {
    const { environment, calls, states } = await open([lost, lost, lost], 30);
    for (let call = 0; call < 2; call += 1) await expect(environment.stat("a")).rejects.toBe(lost);
    await pause(40);
    await expect(environment.exec("true")).rejects.toBe(lost);
    expect(states()).toEqual(["open", "half_open", "open"]);
    await pause(40);
    expect(await environment.exec("true")).toEqual({ exitCode: 0 });
    expect(states()).toEqual(["open", "half_open", "open", "half_open", "closed"]);
    expect(calls.map(({ verb, path }) => `${verb} ${path ?? ""}`)).toEqual([
      "stat a",
      "stat a",
      "stat /workspace",
      "stat /workspace",
      "exec ",
    ]);
  });

  it("lets the others through while a long command tries out the target", async () => {
    const { environment } = await open([lost, lost], 5);
    for (let call = 0; call < 2; call += 1) await expect(environment.stat("a")).rejects.toBe(lost);
    await pause(10);
    environment.delay("exec", 60_000);
    const abort = new AbortController();
    const command = environment.exec("sleep", { signal: abort.signal });
    expect((await environment.stat("a")).size).toBe(1);
    abort.abort();
    await expect(command).rejects.toMatchObject({ code: "aborted" });
  });
});
