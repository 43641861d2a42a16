import { afterAll, describe } from "vitest";
import { docker, dockerProvisioner } from "../../adapters/docker/index.js";
import type { Environment } from "../../src/contract/target.js";
import { type ContractHost, hostOverExec } from "../../src/testing/index.js";
import { testLabels } from "../adapters/docker/engine-witness.js";
import { type ContainerOptions, startContainer, type TestContainer } from "../support/containers.js";
import { describeTarget } from "../support/describe-target.js";
import { describeContract, FILE_THEMES } from "./run.js";

const smallDisk = "/small";
const smallBytes = 3 * 1024 * 1024;

/** The container's shell sets the scene; the small disk is a tmpfs that it was made with. */
function dockerHost(environment: Environment): ContractHost {
  const host = hostOverExec(environment);
  const release = async (): Promise<void> => {
    await environment.exec(`rm -rf ${smallDisk}/* ${smallDisk}/.[!.]*`);
  };
  return { ...host, smallDisk: async () => ({ directory: smallDisk, release }) };
}

describeTarget("docker", "the contract", () => {
  describe("a new container", () => {
    const provisioner = dockerProvisioner({ image: "glovebox/sandbox", tmpfs: { [smallDisk]: { sizeBytes: smallBytes } } });
    const made: string[] = [];
    afterAll(async () => {
      for (const id of made) await provisioner.remove(id);
      await provisioner.close();
    });
    const makeTarget = async () => {
      const { id } = await provisioner.create({ labels: testLabels() });
      made.push(id);
      return provisioner.target(id);
    };
    describeContract("docker (sandbox: read-only, no network, not root)", makeTarget, {
      host: dockerHost,
      variants: ["plain", "behind all layers"],
    });
  });

  describe("containers to attach to", () => {
    const boxes: TestContainer[] = [];
    afterAll(async () => {
      await Promise.all(boxes.map((box) => box.remove()));
    });
    const attach = (options: ContainerOptions) => async () => {
      const box = await startContainer(options);
      boxes.push(box);
      return docker({ container: box.name });
    };
    const tmpfs = {
      "/tmp": "rw,nosuid,nodev,noexec,size=64m,mode=1777",
      "/workspace": "rw,nosuid,nodev,exec,size=256m,mode=0755,uid=1000,gid=1000",
      [smallDisk]: `rw,nosuid,nodev,size=${smallBytes},mode=1777`,
    };
    describeContract("docker (nothing but busybox)", attach({ image: "glovebox/busybox", hostConfig: { Tmpfs: tmpfs } }), {
      host: dockerHost,
      variants: ["plain"],
    });
    // Root as Docker makes it, with what it can do by default; not what this adapter would make.
    const root = { readOnlyRootfs: false, user: "0:0", hostConfig: { CapDrop: [] } };
    describeContract("docker (root, writable system)", attach(root), { variants: ["plain"], themes: FILE_THEMES });
  });
});
