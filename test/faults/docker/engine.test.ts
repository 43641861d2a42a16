import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { docker } from "../../../adapters/docker/index.js";
import { openEnvironment } from "../../../src/environment.js";
import { containerProcesses } from "../../adapters/docker/engine-witness.js";
import { targetState } from "../../support/describe-target.js";
import { type PrivateEngine, privateEngineObstacle, startPrivateEngine } from "../../support/netns-engine.js";
import { type DockerEnvironment, listen, makeScene, type Scene, say } from "./scene.js";
import { fewTrials, repeat, sleep } from "./trials.js";

const state = targetState("docker");
const obstacle = state.ready ? privateEngineObstacle() : state.reason;

/** Each line that a command of id wrote: how often it ran. */
async function journal(environment: DockerEnvironment): Promise<readonly string[]> {
  return (await say(environment, "cat /workspace/journal 2>/dev/null")).split("\n").filter((line) => line !== "");
}

for (const liveRestore of [false, true]) {
  describe.skipIf(obstacle !== undefined)(
    `faults of the engine, ${liveRestore ? "with" : "without"} live-restore${obstacle ? ` (${obstacle})` : ""}`,
    () => {
      let engine: PrivateEngine;
      let scene: Scene;
      beforeAll(async () => {
        engine = await startPrivateEngine({ liveRestore });
        // A volume, so that what was run can be read after the container was stopped.
        scene = makeScene({ host: engine.dockerHost, workspace: { volume: "test-journal" } });
      });
      afterEach(async () => {
        engine.thaw();
        await engine.start();
        await scene.clear();
      });
      afterAll(async () => {
        await scene?.close();
        await engine?.remove();
      });

      for (const end of ["kill", "stop"] as const) {
        const id = end === "kill" ? "R06 killed" : "R07 stopped";
        it(`${id} under a command: its outcome is unknown or the container gone, and it never runs twice (${fewTrials} times)`, {
          timeout: 300_000,
        }, async () => {
          await repeat(fewTrials, async (round) => {
            const environment = await scene.open();
            const mark = `${end}-${round}`;
            const { started, done } = listen(
              environment,
              `echo ${mark} >> /workspace/journal; for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.5; done; exit 0`,
            );
            await started;
            await engine[end]();
            await expect(done).rejects.toMatchObject({ code: expect.stringMatching(/^(unknown_outcome|gone)$/), retrySafe: false });
            const begun = performance.now();
            await expect(environment.readFile("/workspace/journal")).rejects.toMatchObject({
              code: expect.stringMatching(/^(disconnected|gone|timeout)$/),
            });
            expect(performance.now() - begun).toBeLessThan(25_000);
            await engine.start();
            await scene.provisioner.start(environment.containerId);
            expect((await journal(environment)).filter((line) => line === mark)).toEqual([mark]);
            await environment.writeFile("/workspace/after", Buffer.from(mark));
            expect(await say(environment, "cat /workspace/after")).toBe(mark);
            for (
              let waited = 0;
              waited < 20_000 && (await containerProcesses(environment.containerId, "sleep 0.5", engine.docker)) > 0;
              waited += 250
            )
              await sleep(250);
            expect(await containerProcesses(environment.containerId, "sleep 0.5", engine.docker)).toBe(0);
            await scene.clear();
          });
        });
      }

      it("R08 frozen: calls settle by their deadlines, what ran goes on when it is thawed", { timeout: 120_000 }, async () => {
        const environment = await scene.open();
        const { started, done } = listen(environment, "echo up; sleep 2; echo end; exit 3");
        await started;
        engine.freeze();
        const impatient = listen(environment, "sleep 30", { signal: AbortSignal.timeout(1_000) });
        await expect(openEnvironment(docker({ host: engine.dockerHost, container: environment.containerId }))).rejects.toMatchObject({
          code: "timeout",
        });
        engine.thaw();
        await expect(impatient.done).rejects.toMatchObject({ code: expect.stringMatching(/^(timeout|unknown_outcome)$/) });
        expect(await done).toMatchObject({ exitCode: 3, text: "up\nend\n" });
        expect(await say(environment, "echo on")).toBe("on\n");
      });
    },
  );
}
