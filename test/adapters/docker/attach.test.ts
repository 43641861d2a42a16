import { afterAll, beforeAll, expect, it } from "vitest";
import { auditContainer } from "../../../adapters/docker/audit.js";
import { docker } from "../../../adapters/docker/index.js";
import { openEnvironment } from "../../../src/environment.js";
import { startContainer, type TestContainer } from "../../support/containers.js";
import { describeTarget } from "../../support/describe-target.js";
import { engineClient } from "../../support/sweep.js";
import { testLabels } from "./engine-witness.js";

const engine = engineClient();

describeTarget("docker", "attaching", () => {
  let box: TestContainer;
  beforeAll(async () => {
    box = await startContainer({ image: "glovebox/busybox" });
  });
  afterAll(async () => {
    await box?.remove();
  });

  it("works by name and by full id, as the container's user, in its directory, and leaves the container alone", async () => {
    for (const container of [box.name, box.id]) {
      const environment = await openEnvironment(docker({ container }));
      expect(environment).toMatchObject({ kind: "docker", id: `docker:${box.id}`, containerId: box.id, cwd: "/workspace" });
      let output = "";
      await environment.exec("id -u; pwd", {
        onOutput: (chunk) => {
          output += Buffer.from(chunk).toString();
        },
      });
      expect(output).toBe("1000\n/workspace\n");
      await environment.close();
    }
    expect((await box.container.inspect()).State.Running).toBe(true);
  });

  it("D-1 refuses the beginning of an id, and a name that is nobody's", async () => {
    for (const container of [box.id.slice(0, 12), box.id.slice(0, 63), "nosuchcontainer", "f".repeat(64)]) {
      await expect(openEnvironment(docker({ container }))).rejects.toMatchObject({ code: "not_found" });
    }
  });

  it("D-1 takes a name that is the beginning of another's id for the name", async () => {
    const name = box.id.slice(0, 12);
    const other = await engine.createContainer({
      Image: "glovebox/busybox",
      name,
      HostConfig: { NetworkMode: "none" },
      Labels: { ...testLabels() },
    });
    await other.start();
    const environment = await openEnvironment(docker({ container: name }));
    expect(environment.containerId).toBe(other.id);
    await environment.close();
    await other.remove({ force: true });
  });

  it("says what is wrong with a container that does not run", async () => {
    const stopped = await engine.createContainer({
      Image: "glovebox/busybox",
      HostConfig: { NetworkMode: "none" },
      Labels: { ...testLabels() },
    });
    const { Name } = await stopped.inspect();
    await expect(openEnvironment(docker({ container: Name.slice(1) }))).rejects.toMatchObject({ code: "gone" });
    await stopped.start();
    await stopped.pause();
    await expect(openEnvironment(docker({ container: Name.slice(1) }))).rejects.toMatchObject({ code: "busy", retrySafe: true });
    await stopped.remove({ force: true });
  });

  it("notices that the container was restarted, and goes on", async () => {
    const environment = await openEnvironment(docker({ container: box.name }));
    await environment.writeFile("/workspace/a", Buffer.from("x"));
    await box.container.restart({ t: 0 });
    await expect(environment.readFile("/workspace/a")).rejects.toMatchObject({ code: "not_found" });
    await environment.writeFile("/workspace/a", Buffer.from("y"));
    // The shell that was to take the next command may have been starting when the container went down; it says so.
    const run = () => environment.exec("true");
    const result = await run().catch((error: unknown) => {
      expect(error).toMatchObject({ code: "not_started", retrySafe: true });
      return run();
    });
    expect(result.exitCode).toBe(0);
    await environment.close();
  });

  it("warns of what is soft about a container", async () => {
    await using soft = await startContainer({ image: "glovebox/busybox", readOnlyRootfs: false, user: "0:0", environment: { TOKEN: "x" } });
    const environment = await openEnvironment(docker({ container: soft.name }));
    const ids = (await environment.describe()).warnings.flatMap((each) => /^(D\d\d):/.exec(each)?.[1] ?? []);
    expect(ids).toEqual(["D05", "D06", "D28"]);
    await environment.close();
  });
});

describeTarget("docker", "D33 the audit of a container to attach to", () => {
  const refusals = [
    ["D01", "is privileged", { Privileged: true }],
    ["D12", "has the host's pid namespace", { PidMode: "host" }],
    ["D12", "has the host's network", { NetworkMode: "host" }],
    ["D13", "holds the engine's socket", { Binds: ["/var/run/docker.sock:/engine.sock"] }],
    ["D13", "holds the directory of the engine's socket", { Binds: ["/var/run:/host-run:ro"] }],
    ["D13", "holds the host's root", { Binds: ["/:/host:ro"] }],
    ["D14", "holds a device", { Devices: [{ PathOnHost: "/dev/null", PathInContainer: "/dev/x", CgroupPermissions: "rwm" }] }],
  ] as const;

  it.each(refusals)("%s refuses one that %s, unless it is allowed by name", async (id, _, hostConfig) => {
    await using box = await startContainer({ image: "glovebox/busybox", hostConfig: hostConfig as object });
    await expect(openEnvironment(docker({ container: box.name }))).rejects.toMatchObject({
      code: "permission_denied",
      details: { items: expect.arrayContaining([id]) },
      message: expect.stringContaining("allowUnsafeContainer"),
    });
    const wrong = id === "D14" ? "D01" : "D14";
    await expect(openEnvironment(docker({ container: box.name, allowUnsafeContainer: [wrong] }))).rejects.toMatchObject({
      code: "permission_denied",
    });
    await expect(openEnvironment(docker({ container: box.name, allowUnsafeContainer: ["D99"] }))).rejects.toMatchObject({
      code: "invalid_argument",
    });
    const all = ["D01", "D12", "D13", "D14"];
    const environment = await openEnvironment(docker({ container: box.name, allowUnsafeContainer: all }));
    expect((await environment.describe()).warnings.some((each) => each.startsWith(`${id}:`))).toBe(true);
    await environment.close();
  });

  it("D13 sees through a volume that stands for a directory of the host", async () => {
    const name = `test-device-${process.pid}`;
    await engine.createVolume({ Name: name, Labels: { ...testLabels() }, DriverOpts: { type: "none", o: "bind", device: "/run" } });
    const box = await startContainer({ image: "glovebox/busybox", hostConfig: { Binds: [`${name}:/data`] } });
    await expect(openEnvironment(docker({ container: box.name }))).rejects.toMatchObject({
      code: "permission_denied",
      details: { items: ["D13"] },
    });
    await box.remove();
    await engine.getVolume(name).remove();
  });

  it("knows directories from their neighbours", async () => {
    await using box = await startContainer({ image: "glovebox/busybox" });
    const container = await box.container.inspect();
    const audit = (source: string): string[] => {
      const mount = { Type: "bind" as const, Source: source, Destination: "/x", Mode: "", RW: true, Propagation: "rprivate" };
      return auditContainer({ ...container, Mounts: [mount] }, "/srv/engine/docker.sock").map(
        ({ id, refused }) => `${id} ${refused ? "refused" : "warned"}`,
      );
    };
    for (const source of [
      "/",
      "/var/run",
      "/run",
      "/run/containerd/containerd.sock",
      "/run/user/1000",
      "/x/podman.sock",
      "/srv",
      "/srv/engine",
      "/srv/engine/docker.sock",
    ]) {
      expect(audit(source), source).toEqual(["D13 refused"]);
    }
    for (const source of ["/etc", "/proc", "/home/x/.ssh", "/var/lib/docker"]) expect(audit(source), source).toEqual(["D13 warned"]);
    for (const source of ["/srv/engineering", "/data", "/runs", "/var/lib/docker/volumes/x/_data", "/opt/etc"])
      expect(audit(source), source).toEqual([]);
  });
});
