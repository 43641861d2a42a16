import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { local } from "../../../adapters/local/index.js";
import { ownerOfThisProcess } from "../../../adapters/local/owner.js";
import { openPrivateDirectory } from "../../../adapters/local/private-directory.js";
import type { GloveboxEvent } from "../../../src/contract/events.js";
import { openEnvironment } from "../../../src/environment.js";
import { describeTarget } from "../../support/describe-target.js";
import { afterwards, eventually, lives, makeScene, nodeArguments, open, start } from "./scene.js";

const crash = new URL("./crash-program.ts", import.meta.url);

describeTarget("local", "what crashed processes left", () => {
  it("L12 P6 R02 a watchdog kills our commands when we are killed, background ones and evaders too", async () => {
    const { root } = makeScene();
    const child = start(process.execPath, await nodeArguments(crash, root, "commands"));
    await child.said("ready");
    await eventually("the commands run", () => readdirSync(root).filter((name) => name.startsWith("pid-")).length === 4);
    const pids = readdirSync(root).map((name) => Number(name.slice("pid-".length)));
    expect(pids.every(lives)).toBe(true);
    child.process.kill("SIGKILL");
    await eventually("all of them are dead", () => !pids.some(lives));
    await eventually("no record of the run is left", () => recordsOf(child.process.pid ?? 0).length === 0);
  });

  it("P6 the next start sweeps the orphans of an owner whose watchdog was killed as well, and says so", async () => {
    const { root } = makeScene();
    const child = start(process.execPath, await nodeArguments(crash, root, "commands"));
    await child.said("ready");
    await eventually("the commands run", () => readdirSync(root).filter((name) => name.startsWith("pid-")).length === 4);
    const pids = readdirSync(root).map((name) => Number(name.slice("pid-".length)));
    const watchdog = spawnSync("pgrep", ["-f", `glovebox-watchdog ${prefixOf(child.process.pid ?? 0)}`])
      .stdout.toString()
      .trim();
    expect(watchdog).toMatch(/^\d+$/);
    process.kill(Number(watchdog), "SIGKILL");
    child.process.kill("SIGKILL");
    await child.done;
    expect(pids.some(lives)).toBe(true);
    const events: GloveboxEvent[] = [];
    const environment = await openEnvironment(local(root), { onEvent: (event) => void events.push(event) });
    afterwards(() => environment.close());
    expect(pids.some(lives)).toBe(false);
    await eventually("the sweep was reported", () =>
      events.some((event) => event.type === "target_swept" && event.what.includes("processes")),
    );
    expect(recordsOf(child.process.pid ?? 0)).toEqual([]);
  });

  it("L17 P14 the next start removes the half-written files of dead writers, not those of living ones or strangers", async () => {
    const { root } = makeScene();
    const { startTicks } = ownerOfThisProcess();
    const living = `.glovebox-tmp-${process.pid}-${startTicks}-0123456789abcdef`;
    writeFileSync(join(root, living), "");
    writeFileSync(join(root, ".glovebox-tmp-foreign"), "");
    for (let round = 0; round < 3; round += 1) {
      const child = start(process.execPath, await nodeArguments(crash, root, "write"));
      await child.said("ready");
      await eventually("the writer is in the middle", () =>
        readdirSync(root).some((name) => name.startsWith(`.glovebox-tmp-${child.process.pid}-`)),
      );
      child.process.kill("SIGKILL");
      await child.done;
    }
    await (await open(root)).close();
    expect(
      readdirSync(root)
        .filter((name) => name !== "f")
        .sort(),
    ).toEqual([living, ".glovebox-tmp-foreign"].sort());
  });

  it("records of living owners and what is no record stay", async () => {
    const { root } = makeScene();
    const base = openPrivateDirectory();
    const stranger = join(base, "run-not-a-record");
    mkdirSync(stranger, { recursive: true });
    afterwards(() => spawnSync("rm", ["-rf", stranger]));
    const first = await open(root);
    await first.exec("true");
    const records = recordsOf(process.pid);
    await open(root);
    expect(recordsOf(process.pid)).toEqual(expect.arrayContaining([...records]));
    expect(existsSync(stranger)).toBe(true);
    expect((await first.exec("exit 3")).exitCode).toBe(3);
  });
});

function recordsOf(pid: number): readonly string[] {
  return readdirSync(openPrivateDirectory()).filter((name) => name.startsWith("run-") && name.split(":")[2] === String(pid));
}

function prefixOf(pid: number): string {
  return recordsOf(pid)[0]?.slice("run-".length, "run-".length + 24) ?? "none";
}
