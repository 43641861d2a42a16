import { afterAll, afterEach, expect, it } from "vitest";
import { docker } from "../../../adapters/docker/index.js";
import { openEnvironment } from "../../../src/environment.js";
import { containerProcesses } from "../../adapters/docker/engine-witness.js";
import { startContainer } from "../../support/containers.js";
import { describeTarget } from "../../support/describe-target.js";
import { engineClient } from "../../support/sweep.js";
import { listen, makeScene, say } from "./scene.js";
import { fewTrials, repeat, sleep, trials } from "./trials.js";

const engine = engineClient();

describeTarget("docker", "faults of the container", () => {
  const scene = makeScene({ memoryBytes: 48 * 1024 * 1024 });
  afterEach(() => scene.clear());
  afterAll(() => scene.close());

  it(`R04 a command killed from outside ends by that signal (${trials} times)`, async () => {
    const environment = await scene.open();
    await repeat(trials, async () => {
      const { started, done } = listen(environment, "echo $$; exec sleep 60");
      const pid = (await started).trim();
      await environment.exec(`kill -9 ${pid}`);
      expect(await done).toMatchObject({ signal: "SIGKILL" });
    });
    expect(await say(environment, "echo alive")).toBe("alive\n");
  });

  it(`R10 a command that is killed for want of memory says so, and so does one whose child was (${trials} times)`, {
    timeout: 200_000,
  }, async () => {
    const environment = await scene.open();
    await repeat(trials, async (round) => {
      if (round % 2 === 0)
        expect(await listen(environment, "exec tail /dev/zero").done).toMatchObject({ signal: "SIGKILL", outOfMemory: true });
      else expect(await listen(environment, "tail /dev/zero; exit 3").done).toMatchObject({ exitCode: 3, outOfMemory: true });
      const after = await listen(environment, "exit 9").done;
      expect(after).toMatchObject({ exitCode: 9 });
      expect(after.outOfMemory).toBeUndefined();
    });
  });

  it(`R12 stopped, killed or removed under a command: never a success, and gone within a second (${3 * fewTrials} times)`, {
    timeout: 200_000,
  }, async () => {
    await repeat(fewTrials, async () => {
      for (const end of ["stop", "kill", "remove"] as const) {
        const environment = await scene.open();
        const { started, done } = listen(environment, "echo up; sleep 60");
        await started;
        const container = engine.getContainer(environment.containerId);
        if (end === "stop") await container.stop({ t: 0 });
        else if (end === "kill") await container.kill();
        else await container.remove({ force: true });
        await expect(done).rejects.toMatchObject({ code: "gone", retrySafe: false });
        const begun = performance.now();
        for (const next of [() => environment.readFile("x"), () => environment.exec("true")])
          await expect(next()).rejects.toMatchObject({ code: "gone" });
        expect(performance.now() - begun).toBeLessThan(5_000);
        await scene.clear();
      }
    });
  });

  it(`R12 restarted under a command: never a success, and it goes on (${fewTrials} times)`, { timeout: 200_000 }, async () => {
    const environment = await scene.open();
    await repeat(fewTrials, async () => {
      const { started, done } = listen(environment, "echo up; sleep 60");
      await started;
      await engine.getContainer(environment.containerId).restart({ t: 0 });
      const end = await done.then(
        (result) => result.signal ?? `exit ${result.exitCode}`,
        (error: { code: string }) => error.code,
      );
      expect(["SIGKILL", "gone", "unknown_outcome"]).toContain(end);
      expect((await environment.stat(".")).kind).toBe("directory");
      await environment.writeFile("after", Buffer.from("x"));
      // The shell that was to take the next command may have been starting when the container went down; it says so.
      const next = await say(environment, "cat after").catch((error: unknown) => {
        expect(error).toMatchObject({ code: "not_started", retrySafe: true });
        return say(environment, "cat after");
      });
      expect(next).toBe("x");
    });
  });

  it("R12 renamed under a command: nothing happens", async () => {
    const environment = await scene.open();
    const { started, done } = listen(environment, "echo up; sleep 0.5; exit 7");
    await started;
    await scene.provisioner.rename(environment.containerId, `test-renamed-${process.pid}`);
    expect(await done).toMatchObject({ exitCode: 7, text: "up\n" });
    expect(await say(environment, "echo on")).toBe("on\n");
  });

  it(`R11 paused under a command: held, then as if nothing had been (${fewTrials} times)`, async () => {
    const environment = await scene.open();
    await repeat(fewTrials, async () => {
      const { started, done } = listen(environment, "for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done; exit 4");
      await started;
      await scene.provisioner.pause(environment.containerId);
      const reading = environment.stat(".");
      const next = listen(environment, "echo next");
      await sleep(700);
      await scene.provisioner.resume(environment.containerId);
      expect(await done).toMatchObject({ exitCode: 4, text: "1\n2\n3\n4\n5\n6\n" });
      expect((await reading).kind).toBe("directory");
      expect(await next.done).toMatchObject({ exitCode: 0, text: "next\n" });
    });
  });

  it("R11 timed out while paused: dead once it is resumed, and only then settled", async () => {
    const environment = await scene.open();
    const controller = new AbortController();
    const { started, done } = listen(environment, "echo up; sleep 61", { signal: controller.signal });
    await started;
    await scene.provisioner.pause(environment.containerId);
    controller.abort(new DOMException("out of time", "TimeoutError"));
    let settled = false;
    done.catch(() => {
      settled = true;
    });
    await sleep(700);
    expect(settled).toBe(false);
    await scene.provisioner.resume(environment.containerId);
    await expect(done).rejects.toMatchObject({ code: "timeout" });
    expect(await containerProcesses(environment.containerId, "sleep 61")).toBe(0);
  });

  it(`R26 a fork bomb and ten thousand sleepers: the limit holds, and closing ends them`, { timeout: 120_000 }, async () => {
    for (const bomb of ["i=0; while [ $i -lt 10000 ]; do sleep 62 & i=$((i+1)); done", "b() { b | b & }; b; sleep 3"]) {
      const environment = await scene.open();
      const { done } = listen(environment, bomb, { signal: AbortSignal.timeout(8_000) });
      await done.catch((error: unknown) => expect(error).toMatchObject({ code: expect.stringMatching(/timeout|unknown_outcome/) }));
      const { pids_stats: pids } = await engine.getContainer(environment.containerId).stats({ stream: false, "one-shot": true });
      expect(Number(pids?.current)).toBeLessThanOrEqual(256);
      await scene.clear();
    }
  });

  it("R26 zombies are reaped", async () => {
    const environment = await scene.open();
    await environment.exec("i=0; while [ $i -lt 200 ]; do (sleep 0.01 &) ; i=$((i+1)); done; sleep 1");
    expect(await say(environment, "grep -ls '^State:.Z' /proc/[0-9]*/status | wc -l")).toBe("0\n");
  });

  it(`R27 a background child that holds the pipes holds neither its call nor the next (${fewTrials} times)`, {
    timeout: 200_000,
  }, async () => {
    const environment = await scene.open();
    const holders = [
      "sleep 5 &",
      "setsid sleep 5 &",
      "(trap '' HUP; exec sleep 5) &",
      "(for i in 1 2 3 4 5 6 7 8 9; do echo noise; sleep 0.5; done) &",
    ];
    await repeat(fewTrials, async () => {
      for (const holder of holders) {
        const begun = performance.now();
        const result = await listen(environment, `${holder} echo ok`).done;
        expect(result.exitCode).toBe(0);
        expect(result.text).toContain("ok\n");
        expect((await listen(environment, "exit 6").done).exitCode).toBe(6);
        expect(performance.now() - begun).toBeLessThan(4_000);
      }
    });
  });
});

describeTarget("docker", "a container without memory", () => {
  it(`R09 whose main process is killed for want of it: out_of_memory, then gone (${fewTrials} times)`, { timeout: 200_000 }, async () => {
    const command = ["sh", "-c", "until [ -e /tmp/go ]; do sleep 0.1; done; exec tail /dev/zero"];
    const limits = { Memory: 48 * 1024 * 1024, MemorySwap: 48 * 1024 * 1024 };
    await repeat(fewTrials, async () => {
      await using box = await startContainer({ image: "glovebox/busybox", command, hostConfig: limits });
      const environment = await openEnvironment(docker({ container: box.name }));
      const { done } = listen(environment, "touch /tmp/go; sleep 60");
      await expect(done).rejects.toMatchObject({ code: "out_of_memory", details: { outOfMemory: true } });
      await expect(environment.exec("true")).rejects.toMatchObject({
        code: expect.stringMatching(/^(gone|out_of_memory)$/),
        details: { outOfMemory: true },
      });
      await environment.close();
    });
  });
});

describeTarget("docker", "a container without room", () => {
  const scene = makeScene({ workspaceBytes: 1024 * 1024 });
  afterAll(() => scene.close());

  it(`R19 no_space names the file and leaves the old one; the next small write succeeds (${trials} times)`, async () => {
    const environment = await scene.open();
    const old = Buffer.alloc(500_000, "o");
    await repeat(trials, async (round) => {
      await environment.writeFile("file", old);
      await expect(environment.writeFile("file", Buffer.alloc(2_000_000 + round, "n"))).rejects.toMatchObject({
        code: "no_space",
        path: expect.stringContaining("file"),
      });
      expect(Buffer.from((await environment.readFile("file")).data).equals(old)).toBe(true);
      expect((await environment.readdir(".")).map(({ name }) => name).sort()).toEqual(round === 0 ? ["file"] : ["file", "small"]);
      await environment.writeFile("small", Buffer.from("s"));
    });
  });
});
