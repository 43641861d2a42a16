import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import { docker, dockerProvisioner } from "../../../adapters/docker/index.js";
import { openEnvironment } from "../../../src/environment.js";
import { crashWithSandboxes } from "../../adapters/docker/crash.js";
import { containerProcesses, testLabels, witness } from "../../adapters/docker/engine-witness.js";
import { startContainer } from "../../support/containers.js";
import { describeTarget } from "../../support/describe-target.js";
import { flood } from "../flood.js";
import { fewTrials, repeat, sleep, trials } from "./trials.js";

function program(name: string, args: readonly string[], flags: readonly string[] = []) {
  const path = fileURLToPath(new URL(name, import.meta.url));
  return spawn(process.execPath, [...flags, "--import", "tsx", path, ...args], { stdio: ["ignore", "pipe", "inherit"] });
}

describeTarget("docker", "R25 P15 floods", () => {
  /** A tenth of a gibibyte in CI, all of it in a full run. */
  const mib = trials > 30 ? 1024 : 100;

  it.each([
    ["on both streams arrives to the byte", `head -c ${mib}m /dev/zero & head -c ${mib / 4}m /dev/zero >&2; wait`, "quick", mib, mib / 4],
    ["holds the command back when the reader lags", `head -c ${mib}m /dev/zero`, "slow", mib, 0],
    ["that nobody reads costs no memory either", `head -c ${mib}m /dev/zero`, "unread", 0, 0],
    ["of empty lines", `yes '' | head -c ${mib / 4}m`, "quick", mib / 4, 0],
  ] as const)(`${mib} MiB %s`, { timeout: 300_000 }, async (_, command, reader, stdoutMib, stderrMib) => {
    const target = { dockerOptions: { image: "glovebox/busybox", labels: testLabels() } };
    const arrived = { exitCode: 0, stdout: stdoutMib * 2 ** 20, stderr: stderrMib * 2 ** 20 };
    expect(await flood(target, command, reader)).toEqual(arrived);
  });
});

describeTarget("docker", "R02 our own process is killed", () => {
  const provisioner = dockerProvisioner();
  afterAll(() => provisioner.close());

  it(`under a command in a container of somebody's: what it started dies, the rest lives (${fewTrials} times)`, {
    timeout: 200_000,
  }, async () => {
    await using box = await startContainer({ image: "glovebox/busybox" });
    await witness(box.id, "sleep 777 >/dev/null 2>&1 </dev/null & echo");
    await repeat(fewTrials, async () => {
      const child = program("./victim-program.ts", [box.name]);
      await new Promise((resolve) => child.stdout?.once("data", resolve));
      expect(await containerProcesses(box.id, "sleep 778")).toBe(3);
      child.kill("SIGKILL");
      await once(child, "exit");
      for (let waited = 0; waited < 20_000 && (await containerProcesses(box.id, "sleep 778")) > 0; waited += 200) await sleep(200);
      expect(await containerProcesses(box.id, "sleep 778")).toBe(0);
      expect(await containerProcesses(box.id, "sleep 777")).toBe(1);
    });
    for (let waited = 0; waited < 20_000 && (await containerProcesses(box.id, "glovebox")) > 0; waited += 200) await sleep(200);
    // P14: what a killed shell could not remove, the next connection does.
    const next = await openEnvironment(docker({ container: box.name }));
    await next.exec("true");
    await next.close();
    expect(await witness(box.id, "ls -A /tmp/.glovebox-1000 2>/dev/null | grep -v '^lock-'")).toBe("");
  });

  it("under a command in a sandbox of its own: the next process's sweep removes it", async () => {
    const [orphan] = await crashWithSandboxes({ labels: testLabels() });
    await provisioner.sweep();
    await expect(witness(orphan?.id ?? "", "true")).rejects.toMatchObject({ statusCode: 404 });
  });
});
