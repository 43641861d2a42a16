import { afterAll, beforeAll, expect, it } from "vitest";
import { docker } from "../../../adapters/docker/index.js";
import { openEnvironment } from "../../../src/environment.js";
import { startContainer, type TestContainer } from "../../support/containers.js";
import { describeTarget } from "../../support/describe-target.js";

const TIMEOUT_MS = 20_000;

/** What a command tries to do to the machine that its container runs on. */
const HOSTILE = [
  "docker ps",
  "mount -t tmpfs none /mnt",
  "nsenter -t 1 -m -u -i -n true",
  "unshare -m true",
  "insmod /lib/modules/none.ko",
  "reboot -f",
  "echo b > /proc/sysrq-trigger",
  "mknod /tmp/disk b 8 0",
  "chroot / true",
  "kill -9 -1",
] as const;

describeTarget("docker", "B16 P8 a command that turns on its container, or on what is around it", () => {
  let neighbour: TestContainer;
  beforeAll(async () => {
    neighbour = await startContainer();
  });
  afterAll(() => neighbour?.remove());

  it("is refused, and the sandbox goes on, or says that it is gone; its neighbour notices nothing", async () => {
    let environment = await openEnvironment(docker({ pids: 64 }));
    for (const command of HOSTILE) {
      await environment.writeFile("kept", Buffer.from("kept"));
      const outcome = await environment.exec(command, { signal: AbortSignal.timeout(TIMEOUT_MS) }).then(
        ({ exitCode }) => exitCode,
        (error: { readonly code: string }) => error.code,
      );
      expect(outcome, command).not.toBe(0);
      const after = await environment.readFile("kept").then(
        ({ data }) => Buffer.from(data).toString(),
        (error: { readonly code: string }) => error.code,
      );
      expect(["kept", "gone"], command).toContain(after);
      if (after === "gone") {
        await environment.close();
        environment = await openEnvironment(docker({ pids: 64 }));
      }
      expect((await environment.exec("echo on")).exitCode, command).toBe(0);
      expect((await neighbour.exec(["echo", "untouched"])).stdout.trim()).toBe("untouched");
    }
    await environment.close();
  });
});
