import { expect, it } from "vitest";
import { startContainer, startSshContainer, type TestImage } from "./containers.js";
import { describeTarget } from "./describe-target.js";
import { runCommand } from "./run-command.js";
import { mayBeRunning, testLabel } from "./run-identity.js";
import { startSshd } from "./sshd.js";
import { engineClient, sweepEngine } from "./sweep.js";

describeTarget("docker", "containers for tests", () => {
  for (const image of ["glovebox/sandbox", "glovebox/busybox"] as const satisfies readonly TestImage[]) {
    it(`${image} has one account, nothing to gain and nowhere to go`, async () => {
      await using box = await startContainer({ image });
      const script =
        "id -u; grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status; ls /sys/class/net; touch /x || echo read-only; pwd";
      const { stdout } = await box.exec(["sh", "-c", script]);
      expect(stdout.replaceAll("\t", " ")).toBe(
        "1000\nCapEff: 0000000000000000\nCapBnd: 0000000000000000\nNoNewPrivs: 1\nSeccomp: 2\nlo\nread-only\n/workspace\n",
      );
      const setuid = await box.exec(["sh", "-c", "find / -xdev -type f \\( -perm -4000 -o -perm -2000 \\) 2>/dev/null | wc -l"], {
        user: "0",
      });
      expect(setuid.stdout.trim()).toBe("0");
    });
  }

  it("glovebox/sandbox has the tools that the adapter looks for", async () => {
    await using box = await startContainer();
    const { stdout } = await box.exec([
      "sh",
      "-c",
      "for each in bash git rg fd find sha256sum setsid timeout; do command -v $each >/dev/null || echo no $each; done",
    ]);
    expect(stdout).toBe("");
  });

  it("a writable root file system keeps what is written", async () => {
    await using box = await startContainer({ image: "glovebox/busybox", readOnlyRootfs: false });
    expect((await box.exec(["sh", "-c", "echo kept > /workspace/a && cat /workspace/a"])).stdout).toBe("kept\n");
    await box.container.restart({ t: 0 });
    expect((await box.exec(["cat", "/workspace/a"])).stdout).toBe("kept\n");
  });

  it("the sweep removes what a run that is gone left behind, and nothing else", async () => {
    await using mine = await startContainer({ image: "glovebox/busybox" });
    const dead = (await mine.container.inspect()).Config.Labels[testLabel]?.replace(/:\d+:\d+$/, ":1:1") ?? "";
    expect(mayBeRunning(dead)).toBe(false);
    const docker = engineClient();
    const orphan = await docker.createContainer({ Image: "glovebox/busybox", Labels: { [testLabel]: dead } });
    await sweepEngine(docker, undefined);
    await expect(orphan.inspect()).rejects.toMatchObject({ statusCode: 404 });
    expect((await mine.container.inspect()).State.Running).toBe(true);
  });
});

describeTarget(["docker", "ssh"], "glovebox/sshd", () => {
  it("lets dev in with the key, as dev", async () => {
    // Only for a key pair.
    await using keys = await startSshd();
    const { stdout: publicKey } = await runCommand("ssh-keygen", ["-y", "-f", keys.privateKeyPath]);
    await using box = await startSshContainer(publicKey);
    const trust = ["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "-o", "BatchMode=yes"];
    const login = ["-i", keys.privateKeyPath, "-p", String(box.mappedPort(22)), ...trust, "dev@127.0.0.1"];
    expect((await runCommand("ssh", [...login, "id -un; command -v rg git bash"])).stdout).toBe(
      "dev\n/usr/bin/rg\n/usr/bin/git\n/usr/bin/bash\n",
    );
  });
});
