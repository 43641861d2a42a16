import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { createTools } from "../../../src/index.js";
import { describeTarget } from "../../support/describe-target.js";
import { type LinkProxy, startProxy } from "../../support/proxy.js";
import { startSshd } from "../../support/sshd.js";
import { open, sleep, targetFor } from "./scene.js";

/** How often the client spoke after the server had, as a rule: what the link itself says now and then falls between. */
async function turnsOf(proxy: LinkProxy, call: () => Promise<unknown>): Promise<number> {
  const counts: number[] = [];
  for (let round = 0; round < 7; round += 1) {
    await sleep(50);
    const before = proxy.turns;
    await call();
    counts.push(proxy.turns - before);
  }
  return median(counts);
}

function median(counts: readonly number[]): number {
  return [...counts].sort((a, b) => a - b)[counts.length >> 1] ?? 0;
}

describeTarget("ssh", "round trips, once connected", () => {
  it("one for each verb, two for an edit", async () => {
    await using server = await startSshd();
    await using proxy = await startProxy(server, { rttMs: 20 });
    const environment = await open(targetFor(server, proxy));
    const content = Buffer.alloc(4096, "needle\n");
    await environment.writeFile("d/a.txt", content);
    // The shell that waits for a command.
    await environment.exec("true");
    await sleep(1_000);
    const ifMatch = createHash("sha256").update(content).digest("hex");
    expect({
      readFile: await turnsOf(proxy, () => environment.readFile("d/a.txt")),
      lines: await turnsOf(proxy, () => environment.readFile("d/a.txt", { lines: { start: 2, count: 3 } })),
      writeFile: await turnsOf(proxy, () => environment.writeFile("d/a.txt", content)),
      ifMatch: await turnsOf(proxy, () => environment.writeFile("d/a.txt", content, { ifMatch })),
      stat: await turnsOf(proxy, () => environment.stat("d/a.txt")),
      readdir: await turnsOf(proxy, () => environment.readdir("d")),
      realpath: await turnsOf(proxy, () => environment.realpath("d/none/a.txt")),
      grep: await turnsOf(proxy, () => environment.grep("d", { pattern: "needle", limit: 5 })),
      find: await turnsOf(proxy, () => environment.find("d", { pattern: "*.txt", limit: 5 })),
    }).toEqual({ readFile: 1, lines: 1, writeFile: 1, ifMatch: 1, stat: 1, readdir: 1, realpath: 1, grep: 1, find: 1 });

    const edit = createTools(environment, { names: ["edit"] })[0];
    let flip = false;
    const once = async (): Promise<void> => {
      flip = !flip;
      await environment.writeFile("d/e.txt", Buffer.from(flip ? "one\n" : "two\n"));
      const before = proxy.turns;
      const call = { id: "1", signal: new AbortController().signal, onUpdate: () => undefined };
      await edit?.execute({ path: "d/e.txt", edits: [{ oldText: flip ? "one" : "two", newText: "three" }] }, call);
      turns.push(proxy.turns - before);
    };
    const turns: number[] = [];
    for (let round = 0; round < 7; round += 1) await once();
    expect(median(turns)).toBe(2);
    await environment.close();
  });

  it("one for a command, which finds a shell that waits", async () => {
    await using server = await startSshd();
    // So long that whatever the machines do meanwhile does not count.
    const rttMs = 1_500;
    await using proxy = await startProxy(server);
    const environment = await open(targetFor(server, proxy));
    await environment.exec("true");
    await sleep(1_000);
    proxy.shape({ rttMs });
    const started = performance.now();
    await environment.exec("true");
    expect(Math.floor((performance.now() - started) / rttMs)).toBe(1);
    proxy.shape({ rttMs: 0 });
    await environment.close();
  });

  it("sixty-four reads at once travel together", async () => {
    await using server = await startSshd();
    await using proxy = await startProxy(server, { rttMs: 300 });
    const environment = await open(targetFor(server, proxy));
    await environment.writeFile("a.txt", Buffer.alloc(4096, "x"));
    const before = proxy.turns;
    await Promise.all(Array.from({ length: 64 }, () => environment.readFile("a.txt")));
    expect(proxy.turns - before).toBeLessThan(16);
    await environment.close();
  });
});
