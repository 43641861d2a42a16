import { afterAll, beforeAll, expect, it } from "vitest";
import { docker, dockerProvisioner } from "../../../adapters/docker/index.js";
import { LABEL, ownerLabels } from "../../../adapters/docker/owner.js";
import { openEnvironment } from "../../../src/environment.js";
import { startContainer } from "../../support/containers.js";
import { describeTarget } from "../../support/describe-target.js";
import { engineClient } from "../../support/sweep.js";
import { crashWithSandboxes } from "./crash.js";
import { exists, testLabels } from "./engine-witness.js";

/*
 * Other tests' first containers sweep, too: an orphan may be gone before this file's own sweep, and that is as well.
 */
const engine = engineClient();

describeTarget("docker", "the sweep", () => {
  const provisioner = dockerProvisioner({ image: "glovebox/busybox" });
  /** Labels of a session whose process is dead. */
  let dead: Readonly<Record<string, string>> = {};
  const cleanups: string[] = [];

  beforeAll(async () => {
    const owner = ownerLabels("session")[LABEL.owner] ?? "";
    // Our own, had we started one tick after the boot.
    dead = {
      ...testLabels(),
      ...ownerLabels("session"),
      [LABEL.owner]: owner.replace(/\d+$/, "1"),
      [LABEL.id]: "0123456789abcdef0123456789abcdef",
    };
  });
  afterAll(async () => {
    for (const id of cleanups) await engine.getContainer(id).remove({ force: true });
    await provisioner.close();
  });

  async function make(labels: Readonly<Record<string, string>>, hostname = dead[LABEL.id]): Promise<string> {
    const made = await engine.createContainer({
      Image: "glovebox/busybox",
      Hostname: hostname,
      Labels: { ...dead, ...labels },
      HostConfig: { NetworkMode: "none" },
    });
    return made.id;
  }

  it("E02, R02, P7 removes what a killed process left, its networks too", async () => {
    const orphans = await crashWithSandboxes({ labels: testLabels(), network: "isolated", count: 2 });
    await provisioner.sweep();
    for (const { id } of orphans) expect(await exists(id)).toBe(false);
    const networks = (await engine.listNetworks()).map(({ Name }) => Name);
    for (const { name } of orphans) expect(networks).not.toContain(name);
  });

  it("removes one that runs, is paused, has stopped, or never started", async () => {
    const [created, running, paused, stopped] = await Promise.all([make({}), make({}), make({}), make({})]);
    for (const id of [running, paused, stopped]) await engine.getContainer(id).start();
    await engine.getContainer(paused).pause();
    await engine.getContainer(stopped).stop({ t: 0 });
    const other = dockerProvisioner({ image: "glovebox/busybox" });
    await Promise.all([provisioner.sweep(), other.sweep(), provisioner.sweep()]);
    await provisioner.sweep();
    for (const id of [created, running, paused, stopped]) expect(await exists(id)).toBe(false);
    await other.close();
  });

  it("E02, P8 touches nobody else's: the living, the provisioned, other machines', copies, strangers", async () => {
    const kept = await Promise.all([
      make({ [LABEL.owner]: ownerLabels("session")[LABEL.owner] ?? "" }),
      make({ [LABEL.kind]: "provisioned" }),
      make({ [LABEL.owner]: (dead[LABEL.owner] ?? "").replace(/^[^:]*/, "another-machine") }),
      make({ [LABEL.owner]: (dead[LABEL.owner] ?? "").replace(/:[0-9a-f-]{36}:/, ":00000000-0000-0000-0000-000000000000:") }),
      make({ [LABEL.owner]: "" }),
      make({}, "sandbox"),
    ]);
    cleanups.push(...kept);
    for (const id of kept) await engine.getContainer(id).start();
    await using stranger = await startContainer({ image: "glovebox/busybox" });
    const living = await openEnvironment(docker({ image: "glovebox/busybox", labels: testLabels() }));
    const orphan = await make({});
    await provisioner.sweep();
    expect(await exists(orphan)).toBe(false);
    for (const id of [...kept, stranger.id, living.containerId]) expect((await engine.getContainer(id).inspect()).State.Running).toBe(true);
    await living.close();
  });

  it("is done by itself at the first new container of a process", async () => {
    const orphan = await make({});
    const [next] = await crashWithSandboxes({ labels: testLabels() });
    expect(await exists(orphan)).toBe(false);
    await provisioner.sweep();
    expect(await exists(next?.id ?? "")).toBe(false);
  });
});
