import type Docker from "dockerode";
import type { GenericContainer, StartedTestContainer } from "testcontainers";
import { currentRun, testLabel } from "./run-identity.js";
import { engineClient } from "./sweep.js";

export type TestImage = "glovebox/sandbox" | "glovebox/busybox" | "glovebox/sshd";

/** A container that a test started itself, to attach to. */
export interface TestContainer extends AsyncDisposable {
  /** The full id. */
  readonly id: string;
  readonly name: string;
  /** The image's id, "sha256:…". */
  readonly image: string;
  /** For what only the engine's own API can do: pause, kill, inspect. */
  readonly container: Docker.Container;
  /** Runs a command by testcontainers, a witness that owes nothing to the code under test. */
  exec(command: readonly string[], options?: { readonly user?: string }): Promise<{ exitCode: number; stdout: string; stderr: string }>;
  /** The host's port for a port of the container. */
  mappedPort(port: number): number;
  /** Removes it, running or not, gone or not. */
  remove(): Promise<void>;
}

export interface ContainerOptions {
  /** Default: glovebox/sandbox. */
  readonly image?: TestImage;
  /** False: files outside /workspace and /tmp can be written too, and those two are part of the container, not memory. */
  readonly readOnlyRootfs?: boolean;
  readonly user?: string;
  readonly command?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  /** What overrides the hardened settings, for tests that need a container to be worse. */
  readonly hostConfig?: Docker.HostConfig;
}

const mebibyte = 1024 * 1024;

/** The settings that every container of a test has: nothing to gain, nothing to reach, nothing to fill up. */
function hardened(isReadOnly: boolean): Docker.HostConfig {
  return {
    Init: true,
    ReadonlyRootfs: isReadOnly,
    CapDrop: ["ALL"],
    SecurityOpt: ["no-new-privileges"],
    NetworkMode: "none",
    PidsLimit: 256,
    Memory: 512 * mebibyte,
    MemorySwap: 512 * mebibyte,
    NanoCpus: 1e9,
    Ulimits: [
      { Name: "nofile", Soft: 1024, Hard: 1024 },
      { Name: "core", Soft: 0, Hard: 0 },
      { Name: "fsize", Soft: 512 * mebibyte, Hard: 512 * mebibyte },
    ],
    LogConfig: { Type: "none", Config: {} },
    ...(isReadOnly && {
      Tmpfs: {
        "/tmp": "rw,nosuid,nodev,noexec,size=64m,mode=1777",
        "/workspace": "rw,nosuid,nodev,exec,size=256m,mode=0755,uid=1000,gid=1000",
      },
    }),
  };
}

async function recipeFor(image: TestImage, hostConfig: Docker.HostConfig): Promise<GenericContainer> {
  // It takes seconds to load, which tests that are skipped should not pay.
  const { GenericContainer } = await import("testcontainers");
  class Recipe extends GenericContainer {
    constructor() {
      super(image);
      Object.assign(this.hostConfig, hostConfig);
      // Kept apart by the base class, which otherwise would put the container on the default bridge.
      if (hostConfig.NetworkMode !== undefined) this.withNetworkMode(hostConfig.NetworkMode);
    }
  }
  return new Recipe().withLabels({ [testLabel]: currentRun() });
}

/** Starts a container with the hardened settings. It bears the test label, so a test that dies leaves nothing behind for long. */
export async function startContainer(options: ContainerOptions = {}): Promise<TestContainer> {
  const hostConfig = { ...hardened(options.readOnlyRootfs ?? true), ...options.hostConfig };
  const recipe = await recipeFor(options.image ?? "glovebox/sandbox", hostConfig);
  recipe
    .withLabels({ ...options.labels })
    .withEnvironment({ ...options.environment })
    .withHostname("sandbox")
    .withUser(options.user ?? "1000:1000")
    .withCommand([...(options.command ?? ["sleep", "infinity"])]);
  return await wrap(await recipe.start());
}

/** Starts glovebox/sshd, whose account dev is to be reached at mappedPort(22) with the key that belongs to this public one. */
export async function startSshContainer(publicKey: string): Promise<TestContainer> {
  const { Wait } = await import("testcontainers");
  const recipe = await recipeFor("glovebox/sshd", {
    CapDrop: ["ALL"],
    CapAdd: ["SETUID", "SETGID", "SYS_CHROOT", "KILL", "CHOWN", "AUDIT_WRITE"],
    SecurityOpt: ["no-new-privileges"],
    PidsLimit: 256,
    Init: true,
  });
  recipe
    .withEnvironment({ AUTHORIZED_KEYS: publicKey })
    .withExposedPorts(22)
    .withWaitStrategy(Wait.forLogMessage(/Server listening on/));
  return await wrap(await recipe.start());
}

async function wrap(started: StartedTestContainer): Promise<TestContainer> {
  const container = engineClient().getContainer(started.getId());
  const { Image } = await container.inspect();
  const remove = async (): Promise<void> => {
    try {
      await container.remove({ force: true, v: true });
    } catch (error) {
      // 409: a removal is under way already.
      if (![404, 409].includes((error as { statusCode?: number }).statusCode ?? 0)) throw error;
    }
  };
  return {
    id: started.getId(),
    name: started.getName().replace(/^\//, ""),
    image: Image,
    container,
    async exec(command, { user } = {}) {
      const { exitCode, stdout, stderr } = await started.exec([...command], user === undefined ? {} : { user });
      return { exitCode, stdout, stderr };
    },
    mappedPort: (port) => started.getMappedPort(port),
    remove,
    [Symbol.asyncDispose]: remove,
  };
}
