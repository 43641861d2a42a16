import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { type Environment, openEnvironment, type Target } from "../../src/index.js";
import { describeTarget } from "../support/describe-target.js";
import type { SshServer } from "../support/ssh-server.js";

export type PlaceName = "local" | "docker" | "ssh";

/** One block of tests for each target that runs real commands, on an environment that is opened before and closed after. */
export function describePlaces(title: string, body: (environment: () => Environment, name: PlaceName) => void): void {
  for (const name of ["local", "docker", "ssh"] as const) {
    describeTarget(name, `${title} (${name})`, () => {
      let place: Awaited<ReturnType<typeof openPlace>> | undefined;
      beforeAll(async () => {
        place = await openPlace(name);
      });
      afterAll(async () => {
        await place?.close();
      });
      body(() => {
        if (place === undefined) throw new Error(`${name} was not opened`);
        return place.environment;
      }, name);
    });
  }
}

async function openPlace(name: PlaceName): Promise<{ readonly environment: Environment; close(): Promise<void> }> {
  const { target, stop } = await makers[name]();
  const environment = await openEnvironment(target);
  return {
    environment,
    async close() {
      await environment.close();
      await stop();
    },
  };
}

interface Made {
  readonly target: Target;
  stop(): Promise<void>;
}

const makers: Readonly<Record<PlaceName, () => Promise<Made>>> = {
  async local() {
    const { local } = await import("../../adapters/local/index.js");
    const directory = await realpath(await mkdtemp(join(tmpdir(), "glovebox-hosts-")));
    return { target: local(directory), stop: () => rm(directory, { recursive: true, force: true }) };
  },
  async docker() {
    const { docker } = await import("../../adapters/docker/index.js");
    const { currentRun, testLabel } = await import("../support/run-identity.js");
    return { target: docker({ labels: { [testLabel]: currentRun() } }), stop: async () => undefined };
  },
  async ssh() {
    const { startSshd } = await import("../support/sshd.js");
    const server = await startSshd();
    return { target: await sshTarget(server), stop: () => server.stop() };
  },
};

async function sshTarget(server: SshServer): Promise<Target> {
  const { ssh } = await import("../../adapters/ssh/index.js");
  return ssh({
    host: server.host,
    port: server.port,
    user: server.account.name,
    cwd: server.workspace,
    identity: server.privateKeyPath,
    hostKey: server.hostKeyFingerprint,
    config: "none",
  });
}
