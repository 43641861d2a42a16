import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, type Server } from "node:tls";
import { afterAll, beforeAll, expect, it } from "vitest";
import { docker } from "../../../adapters/docker/index.js";
import { openEnvironment } from "../../../src/environment.js";
import { startContainer, type TestContainer } from "../../support/containers.js";
import { describeTarget } from "../../support/describe-target.js";
import { engineClient } from "../../support/sweep.js";

const socketPath = (engineClient().modem as { socketPath?: unknown }).socketPath;
const engineSocket = typeof socketPath === "string" ? socketPath : "/var/run/docker.sock";

/** A certificate authority, and a server and a client that it vouches for, as dockerd's own documentation makes them. */
function makeCertificates(): string {
  const directory = mkdtempSync(join(tmpdir(), "glovebox-tls-"));
  const openssl = (...args: readonly string[]): void => {
    execFileSync("openssl", args, { cwd: directory, stdio: "ignore" });
  };
  openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=ca", "-keyout", "ca-key.pem", "-out", "ca.pem");
  for (const [name, subject] of [
    ["server", "/CN=localhost"],
    ["client", "/CN=client"],
  ] as const) {
    const [key, certificate] = name === "client" ? ["key.pem", "cert.pem"] : ["server-key.pem", "server.pem"];
    writeFileSync(join(directory, `${name}.ext`), name === "server" ? "subjectAltName=IP:127.0.0.1\n" : "extendedKeyUsage=clientAuth\n");
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", subject, "-keyout", key, "-out", `${name}.csr`);
    const sign = ["-CA", "ca.pem", "-CAkey", "ca-key.pem", "-CAcreateserial", "-days", "2", "-extfile", `${name}.ext`];
    openssl("x509", "-req", "-in", `${name}.csr`, ...sign, "-out", certificate);
  }
  return directory;
}

/** The engine behind TLS, with the client's certificate asked for, half-closes passed on. */
function serveEngine(directory: string): Promise<Server> {
  const read = (name: string): Buffer => readFileSync(join(directory, name));
  const identity = {
    ca: read("ca.pem"),
    cert: read("server.pem"),
    key: read("server-key.pem"),
    requestCert: true,
    rejectUnauthorized: true,
  };
  const server = createServer({ ...identity, allowHalfOpen: true }, (client) => {
    const engine = connect({ path: engineSocket, allowHalfOpen: true });
    for (const socket of [client, engine]) socket.on("error", () => socket.destroy());
    client.pipe(engine).pipe(client);
  });
  server.on("tlsClientError", () => undefined);
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

async function roundTrip(environment: Awaited<ReturnType<typeof openEnvironment>>): Promise<string> {
  await environment.writeFile("reached", Buffer.from("x".repeat(100_000)));
  let output = "";
  const { exitCode } = await environment.exec("cat; wc -c < reached", {
    stdin: Buffer.from("in\n"),
    onOutput: (chunk) => {
      output += Buffer.from(chunk).toString();
    },
  });
  await environment.close();
  return `${output}${exitCode}`;
}

describeTarget("docker", "the way to the engine", () => {
  let box: TestContainer;
  let certificates: string;
  let strangers: string;
  let server: Server;
  beforeAll(async () => {
    box = await startContainer({ image: "glovebox/busybox" });
    certificates = makeCertificates();
    strangers = makeCertificates();
    server = await serveEngine(certificates);
  });
  afterAll(async () => {
    server?.close();
    for (const directory of [certificates, strangers]) rmSync(directory, { recursive: true, force: true });
    await box?.remove();
  });

  const host = (): string => `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`;

  it("may be TCP with TLS", async () => {
    const environment = await openEnvironment(docker({ container: box.name, host: host(), certificates }));
    expect((await environment.describe()).facts.engine).toBe(host());
    expect(await roundTrip(environment)).toBe("in\n100000\n0");
  });

  it("is refused when the other side is not who it should be, or does not know us", async () => {
    await expect(openEnvironment(docker({ container: box.name, host: host(), certificates: strangers }))).rejects.toMatchObject({
      code: "auth_failed",
    });
    const plain = docker({ container: box.name, host: host() });
    await expect(openEnvironment(plain)).rejects.toMatchObject({ code: expect.stringMatching(/^(disconnected|unexpected)$/) });
  });

  it("may be an agent of the caller's, whose label it bears, and which stays open", async () => {
    let connections = 0;
    const agent = Object.assign(new Agent({ keepAlive: true }), {
      createConnection: () => {
        connections += 1;
        return connect(engineSocket);
      },
    });
    for (let round = 0; round < 2; round += 1) {
      const environment = await openEnvironment(docker({ container: box.name, engine: { label: "forwarded", agent } }));
      expect((await environment.describe()).facts.engine).toBe("forwarded");
      expect(await roundTrip(environment)).toBe("in\n100000\n0");
    }
    expect(connections).toBeGreaterThan(2);
    agent.destroy();
  });
});
