import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type DockerOptions, docker, dockerProvisioner } from "../../../adapters/docker/index.js";
import { openEnvironment } from "../../../src/environment.js";
import { describeTarget } from "../../support/describe-target.js";
import { runCommand } from "../../support/run-command.js";
import { engineClient } from "../../support/sweep.js";
import { containersWith, exists, testLabels, witness } from "./engine-witness.js";

const engine = engineClient();
let marks = 0;

/** Labels that only this call's containers bear. */
function marked(): Readonly<Record<string, string>> {
  marks += 1;
  return { ...testLabels(), "dev.glovebox.mark": `${process.pid}-${marks}` };
}

async function networks(): Promise<readonly string[]> {
  return (await engine.listNetworks()).map(({ Name }) => Name).filter((name) => name.startsWith("glovebox-"));
}

async function buildImage(tag: string, dockerfile: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "glovebox-image-"));
  await writeFile(join(directory, "Dockerfile"), dockerfile);
  await runCommand("docker", ["build", "--quiet", "--tag", tag, directory], { env: { DOCKER_BUILDKIT: "0" } });
  await rm(directory, { recursive: true });
}

describeTarget("docker", "a new container", () => {
  it("is there while the environment is open, and closing leaves nothing", async () => {
    const labels = marked();
    const environment = await openEnvironment(docker({ image: "glovebox/busybox", labels, network: "isolated" }));
    expect(await containersWith(labels)).toEqual([environment.containerId]);
    const { HostConfig } = await engine.getContainer(environment.containerId).inspect();
    expect(await networks()).toContain(HostConfig.NetworkMode);
    await environment.close();
    await environment.close();
    expect(await containersWith(labels)).toEqual([]);
    expect(await networks()).not.toContain(HostConfig.NetworkMode);
  });

  it("is stopped by nobody's closing but its own", async () => {
    const labels = marked();
    const first = await openEnvironment(docker({ image: "glovebox/busybox", labels }));
    const second = await openEnvironment(docker({ container: first.containerId }));
    expect(second.id).toBe(first.id);
    await second.close();
    expect((await first.exec("true")).exitCode).toBe(0);
    await first.close();
    expect(await exists(first.containerId)).toBe(false);
  });

  it.each<[string, DockerOptions, string]>([
    ["an image that is not there", { image: "glovebox/nosuchimage" }, "not_found"],
    ["a runtime that is not there", { runtime: "nosuchruntime" }, "invalid_argument"],
    ["a network that is not there", { network: "nosuchnetwork", allowNeighbours: true }, "not_found"],
    ["a mount over the system", { tmpfs: { "/proc/self": { sizeBytes: 65536 } } }, "not_started"],
  ])("E01 %s is refused, and nothing stays", async (_, options, code) => {
    const labels = marked();
    const before = await networks();
    await expect(openEnvironment(docker({ image: "glovebox/busybox", ...options, labels } as DockerOptions))).rejects.toMatchObject({
      code,
    });
    expect(await containersWith(labels)).toEqual([]);
    expect(await networks()).toEqual(before);
  });

  it("E01 a name that is taken is refused, and its holder stays", async () => {
    const name = `test-name-${process.pid}`;
    const holder = await openEnvironment(docker({ image: "glovebox/busybox", labels: marked(), name }));
    const labels = marked();
    await expect(openEnvironment(docker({ image: "glovebox/busybox", labels, name }))).rejects.toMatchObject({ code: "exists" });
    expect(await containersWith(labels)).toEqual([]);
    expect((await holder.exec("true")).exitCode).toBe(0);
    await holder.close();
  });

  it("E01 an abort at any moment of the making leaves nothing", async () => {
    const labels = marked();
    for (const afterMs of [0, 5, 15, 40, 150, 300, 500]) {
      const signal = AbortSignal.timeout(afterMs);
      await openEnvironment(docker({ image: "glovebox/busybox", labels, network: "isolated" }), { signal }).then(
        async (environment) => await environment.close(),
        (error: unknown) => expect(error).toMatchObject({ code: "timeout" }),
      );
      expect(await containersWith(labels)).toEqual([]);
    }
  });

  it("D-4, D29 is made from the id that the tag stood for, and says which tag it was", async () => {
    const tag = `glovebox-test/moving-${process.pid}`;
    const { Id } = await engine.getImage("glovebox/busybox").inspect();
    await engine.getImage("glovebox/busybox").tag({ repo: tag });
    const environment = await openEnvironment(docker({ image: tag, labels: marked() }));
    const { Image, Config } = await engine.getContainer(environment.containerId).inspect();
    expect([Image, Config.Image, Config.Labels["glovebox.image"]]).toEqual([Id, Id, tag]);
    await environment.close();
    await engine.getImage(tag).remove();
  });

  it("D-3, D-4, D05, D11, D28, D30 options that cannot be are refused before anything is asked", () => {
    const refused = expect.objectContaining({ code: "invalid_argument" });
    const bad: readonly DockerOptions[] = [
      { labels: { "glovebox.owner": "x" } },
      { name: "glovebox-x" },
      { name: "a b" },
      { user: "0" },
      { user: "root" },
      { network: "host" },
      { network: "container:x" },
      { network: "bridge" },
      { env: { TOKEN: "x" } },
      { addCapabilities: ["ALL"] },
      { memoryBytes: 0 },
      { memoryBytes: Number.NaN },
      { cpus: 0 },
      { pids: 1.5 },
      { workdir: "relative" },
      { workdir: "/" },
      { tmpfs: { "/x:exec": { sizeBytes: 4096 } } },
      { binds: [{ source: "/tmp", target: "/x" }] },
      { workspace: { volume: "glovebox-x" } },
    ];
    for (const options of bad) expect(() => docker(options), JSON.stringify(options)).toThrow(refused);
  });

  it("names each weakening in describe()", async () => {
    const environment = await openEnvironment(
      docker({
        labels: marked(),
        writableRootfs: true,
        allowRoot: true,
        user: "0:0",
        addCapabilities: ["CHOWN"],
        network: "isolated",
        memoryBytes: 256 * 1024 * 1024,
        cpus: 0.5,
        pids: 64,
      }),
    );
    const { warnings, facts, isolation } = await environment.describe();
    for (const name of ["writableRootfs", "allowRoot", "addCapabilities", "network isolated"])
      expect(warnings.some((each) => each.startsWith(name))).toBe(true);
    expect(facts).toMatchObject({
      user: "0:0",
      memoryBytes: 256 * 1024 * 1024,
      cpus: 0.5,
      pids: 64,
      readonlyRootfs: false,
      runtime: "runc",
      image: "glovebox/sandbox",
    });
    expect(isolation).toContain("shares the host's kernel");
    expect((await environment.exec("touch /etc/x && chown 5 /etc/x")).exitCode).toBe(0);
    await environment.close();
  });

  it("D43 what a command says is in none of the engine's events, nor in the container's record", async () => {
    const environment = await openEnvironment(docker({ image: "glovebox/busybox", labels: marked() }));
    const since = Math.floor(Date.now() / 1000) - 1;
    await environment.exec("echo CANARY_IN_TEXT", { env: { NOTE: "CANARY_IN_ENV" }, stdin: Buffer.from("CANARY_IN_STDIN") });
    const filters = { container: [environment.containerId] };
    const stream = await engine.getEvents({ since, until: Math.floor(Date.now() / 1000) + 1, filters });
    let events = "";
    for await (const chunk of stream) events += String(chunk);
    expect(events).toContain("exec_start");
    expect(events + JSON.stringify(await engine.getContainer(environment.containerId).inspect())).not.toContain("CANARY");
    await environment.close();
  });

  it("runs neither the image's entry point nor its health checks", async () => {
    const tag = `glovebox-test/busy-${process.pid}`;
    await buildImage(tag, 'FROM glovebox/busybox\nENTRYPOINT ["false"]\nHEALTHCHECK CMD touch /tmp/checked\nCMD ["x"]\n');
    const environment = await openEnvironment(docker({ image: tag, labels: marked() }));
    const { Config } = await engine.getContainer(environment.containerId).inspect();
    expect(Config.Healthcheck?.Test).toEqual(["NONE"]);
    expect(await witness(environment.containerId, "ps -o args | head -3")).toContain("sleep infinity");
    await environment.close();
    await engine.getImage(tag).remove();
  });
});

describeTarget("docker", "an image without what a sandbox needs", () => {
  const noShell = `glovebox-test/no-shell-${process.pid}`;
  const noSleep = `glovebox-test/no-sleep-${process.pid}`;
  beforeAll(async () => {
    await buildImage(noShell, "FROM scratch\nCOPY --from=glovebox/busybox /bin/busybox /bin/sleep\nENV PATH=/bin\n");
    await buildImage(noSleep, "FROM scratch\nCOPY --from=glovebox/busybox /bin/busybox /bin/sh\nENV PATH=/bin\n");
  });
  afterAll(async () => {
    for (const tag of [noShell, noSleep]) await engine.getImage(tag).remove({ force: true });
  });

  it.each([
    ["sh", noShell],
    ["sleep", noSleep],
  ])("is unsupported when %s is missing, and leaves nothing", async (program, image) => {
    const labels = marked();
    const opening = openEnvironment(docker({ image, labels }));
    await expect(opening).rejects.toMatchObject({ code: "unsupported", message: expect.stringContaining(program) });
    expect(await containersWith(labels)).toEqual([]);
  });
});

describeTarget("docker", "the workspace", () => {
  const volume = `test-volume-${process.pid}`;
  const provisioner = dockerProvisioner();
  afterAll(async () => {
    await provisioner.removeVolume(volume);
    await provisioner.removeVolume(volume);
    await provisioner.close();
  });

  it("ephemeral: survives a pause, not a stop", async () => {
    const environment = await openEnvironment(docker({ image: "glovebox/busybox", labels: marked() }));
    const container = engine.getContainer(environment.containerId);
    await environment.writeFile("a", Buffer.from("x"));
    await container.stop({ t: 0 });
    await container.start();
    await expect(environment.readFile("a")).rejects.toMatchObject({ code: "not_found" });
    await environment.writeFile("a", Buffer.from("y"));
    expect((await environment.exec("true")).exitCode).toBe(0);
    await environment.close();
  });

  it("a volume: survives stop, restart and removal, until it is removed itself", async () => {
    const options = { image: "glovebox/sandbox", labels: marked(), workspace: { volume } };
    const first = await openEnvironment(docker(options));
    await first.writeFile("kept", Buffer.from("x"));
    expect(first.capabilities.durable).toBe(true);
    expect((await first.describe()).warnings.some((each) => each.startsWith("volume:"))).toBe(true);
    await expect(provisioner.removeVolume(volume)).rejects.toMatchObject({ code: "busy" });
    await engine.getContainer(first.containerId).restart({ t: 0 });
    expect(Buffer.from((await first.readFile("kept")).data).toString()).toBe("x");
    await first.close();
    const second = await openEnvironment(docker(options));
    expect(Buffer.from((await second.readFile("kept")).data).toString()).toBe("x");
    await second.close();
  });

  it("a new volume that the user could not write to is refused with the remedy", async () => {
    const labels = marked();
    const fresh = `${volume}-unwritable`;
    const opening = openEnvironment(docker({ image: "glovebox/busybox", labels, workdir: "/elsewhere", workspace: { volume: fresh } }));
    await expect(opening).rejects.toMatchObject({ code: "permission_denied", message: expect.stringContaining("owned by 1000:1000") });
    expect(await containersWith(labels)).toEqual([]);
    await provisioner.removeVolume(fresh);
  });

  it("a volume with a file system of its own is mounted nosuid and nodev", async () => {
    const own = `${volume}-tmpfs`;
    const workspace = { volume: own, driverOptions: { type: "tmpfs", device: "tmpfs", o: "size=1m,uid=1000,gid=1000" } };
    const environment = await openEnvironment(docker({ image: "glovebox/busybox", labels: marked(), workspace }));
    expect(await witness(environment.containerId, "mount | grep ' /workspace '")).toMatch(/nosuid.*nodev/);
    await environment.close();
    await provisioner.removeVolume(own);
  });

  it("somebody else's volume is never removed", async () => {
    const foreign = `${volume}-foreign`;
    await engine.createVolume({ Name: foreign, Labels: { ...testLabels() } });
    await expect(provisioner.removeVolume(foreign)).rejects.toMatchObject({ code: "permission_denied" });
    await engine.getVolume(foreign).remove();
  });
});

describeTarget("docker", "D13 binds", () => {
  let base: string;
  beforeAll(async () => {
    base = await mkdtemp(join(tmpdir(), "glovebox-binds-"));
    await mkdir(join(base, "data"));
    await writeFile(join(base, "data", "file"), "from the host");
    await symlink("/etc", join(base, "out"));
    await symlink("data", join(base, "in"));
    await mkdir(`${base}-evil`);
  });
  afterAll(async () => {
    for (const each of [base, `${base}-evil`]) await rm(each, { recursive: true, force: true });
  });

  it("below the base, read-only unless asked for", async () => {
    const environment = await openEnvironment(
      docker({ labels: marked(), bindBase: base, binds: [{ source: join(base, "in"), target: "/data" }] }),
    );
    expect(Buffer.from((await environment.readFile("/data/file")).data).toString()).toBe("from the host");
    await expect(environment.writeFile("/data/new", Buffer.from("x"))).rejects.toMatchObject({ code: "permission_denied" });
    await environment.close();
  });

  it("nowhere else", () => {
    const refused = expect.objectContaining({ code: "invalid_argument" });
    for (const source of [
      join(base, "out"),
      `${base}-evil`,
      `${base}/../${base.split("/").at(-1)}-evil`,
      "/etc",
      join(base, "missing"),
      "relative",
    ]) {
      expect(() => docker({ bindBase: base, binds: [{ source, target: "/data" }] }), source).toThrow(refused);
    }
    for (const source of ["/", "/var/run", "/run", "/proc", "/home", "/root", "/usr/bin"]) {
      expect(() => docker({ bindBase: "/", binds: [{ source, target: "/data" }] }), source).toThrow(refused);
    }
    expect(() => docker({ bindBase: base, host: "tcp://127.0.0.1:1", binds: [{ source: join(base, "data"), target: "/data" }] })).toThrow(
      refused,
    );
  });
});
