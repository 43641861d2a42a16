import { afterAll, beforeAll, expect, it } from "vitest";
import { resolveTarget } from "../../adapters/index.js";
import { dockerOverSsh } from "../../adapters/nested.js";
import { openEnvironment } from "../../src/environment.js";
import { startContainer, type TestContainer } from "../support/containers.js";
import { describeTarget } from "../support/describe-target.js";
import { startProxy } from "../support/proxy.js";
import { type SshServer, startSshd } from "../support/sshd.js";
import { describeContract } from "./run.js";

/** Where the engine of the tests listens. */
const socketPath = (process.env.DOCKER_HOST ?? "unix:///var/run/docker.sock").replace(/^unix:\/\//, "");

describeTarget(["ssh", "docker"], "the contract of a container on an SSH host", () => {
  let server: SshServer;
  let container: TestContainer;
  beforeAll(async () => {
    [server, container] = await Promise.all([startSshd({ login: "root" }), startContainer()]);
  });
  afterAll(async () => {
    await container?.remove();
    await server?.stop();
  });
  const reach = (at: { readonly host: string; readonly port: number } = server) => ({
    host: at.host,
    port: at.port,
    user: "root",
    identity: server.privateKeyPath,
    hostKey: server.hostKeyFingerprint,
    config: "none",
    socketPath,
  });
  describeContract("nested", () => dockerOverSsh({ container: container.name }, reach()), { variants: ["plain"] });

  it("is what a docker: URL with an ssh: host means", async () => {
    const { host, port, privateKeyPath, hostKeyFingerprint } = server;
    const way = `ssh://root@${host}:${port}${socketPath}?identity=${privateKeyPath}&hostKey=${encodeURIComponent(hostKeyFingerprint)}&config=none`;
    const target = await resolveTarget(`docker://${container.name}/workspace?host=${encodeURIComponent(way)}`);
    expect(target).toMatchObject({ kind: "docker", label: `docker://${container.name}/workspace?host=ssh://root@${host}` });
    const environment = await openEnvironment(target);
    expect(environment.id).toBe(`docker:${container.id}`);
    expect((await environment.exec("exit 6")).exitCode).toBe(6);
    await environment.close();
    const missing = `ssh://root@${host}:${port}/nowhere.sock?identity=${privateKeyPath}&hostKey=${encodeURIComponent(hostKeyFingerprint)}&config=none`;
    const nowhere = await resolveTarget(`docker://${container.name}/workspace?host=${encodeURIComponent(missing)}`);
    await expect(openEnvironment(nowhere)).rejects.toMatchObject({ code: "not_found", message: expect.stringContaining("/nowhere.sock") });
    await expect(resolveTarget("docker://x/?host=ssh://box%3Froot=/srv")).rejects.toMatchObject({ code: "invalid_argument" });
    await expect(resolveTarget("docker://x/?host=ssh://box&compress=1")).rejects.toMatchObject({ code: "invalid_argument" });
  });

  it("a link that is cut ends what ran in the container, and is made again by the next call", async () => {
    await using proxy = await startProxy(server);
    const environment = await openEnvironment(dockerOverSsh({ container: container.name }, reach(proxy)));
    await environment.writeFile("kept", Buffer.from("kept"));
    const running = environment
      .exec("setsid sleep 611 & nohup sleep 612 & sleep 613")
      .catch((error: { readonly code: string }) => error.code);
    const list = "for f in /proc/[0-9]*/cmdline; do tr '\\0' ' ' <$f; echo; done 2>/dev/null | grep -c '^sleep 61'";
    const left = async (): Promise<string> => (await container.exec(["sh", "-c", list])).stdout.trim();
    while ((await left()) !== "3") await new Promise((resolve) => setTimeout(resolve, 100));
    proxy.cut();
    expect(await running).toBe("unknown_outcome");
    expect((await environment.readFile("kept")).size).toBe(4);
    const started = performance.now();
    while ((await left()) !== "0") {
      if (performance.now() - started > 15_000) throw new Error("something still runs in the container");
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    await environment.close();
  });
});
