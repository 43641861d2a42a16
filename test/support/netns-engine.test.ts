import { expect, it } from "vitest";
import { describeTarget } from "./describe-target.js";
import { privateEngineObstacle, startPrivateEngine } from "./netns-engine.js";
import { engineClient } from "./sweep.js";

const obstacle = privateEngineObstacle();

describeTarget("docker", "a private engine", () => {
  it.skipIf(obstacle !== undefined)(
    `runs beside the first one, and can be stopped, killed and frozen${obstacle ? ` (${obstacle})` : ""}`,
    async () => {
      await using engine = await startPrivateEngine({ liveRestore: true });
      expect((await engine.docker.info()).DockerRootDir).not.toBe((await engineClient().info()).DockerRootDir);

      const container = await engine.docker.createContainer({ Image: "glovebox/busybox", HostConfig: { NetworkMode: "none" } });
      await container.start();
      const { State } = await container.inspect();

      await engine.kill();
      expect(engine.pid).toBeUndefined();
      await expect(engine.docker.ping()).rejects.toThrow();
      expect(() => process.kill(State.Pid, 0)).not.toThrow();
      await engine.start();
      expect((await container.inspect()).State.Pid).toBe(State.Pid);

      await engine.stop();
      await engine.start();
      expect((await container.inspect()).State.Running).toBe(true);

      engine.freeze();
      const silence = new Promise((resolve) => setTimeout(resolve, 300, "silence"));
      const answer = engine.docker.ping();
      expect(await Promise.race([answer, silence])).toBe("silence");
      engine.thaw();
      expect(String(await answer)).toBe("OK");
    },
  );
});
