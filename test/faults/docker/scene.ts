import {
  type DockerExtras,
  type DockerProvisioner,
  type DockerProvisionerOptions,
  dockerProvisioner,
} from "../../../adapters/docker/index.js";
import type { ExecOptions, ExecResult } from "../../../src/contract/operations.js";
import type { Environment } from "../../../src/contract/target.js";
import { openEnvironment } from "../../../src/environment.js";
import { testLabels } from "../../adapters/docker/engine-witness.js";

export type DockerEnvironment = Environment & DockerExtras;

export interface Scene {
  readonly provisioner: DockerProvisioner;
  /** A container of its own, and an environment in it. */
  open(): Promise<DockerEnvironment>;
  /** Removes all containers that were made. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

/** Containers of nothing but busybox, which are quick to make and poor in everything. */
export function makeScene(options: DockerProvisionerOptions = {}): Scene {
  const provisioner = dockerProvisioner({ image: "glovebox/busybox", ...options });
  const environments: DockerEnvironment[] = [];
  async function clear(): Promise<void> {
    for (const environment of environments.splice(0)) {
      await environment.close().catch(() => undefined);
      await provisioner.remove(environment.containerId);
    }
  }
  return {
    provisioner,
    async open() {
      const { id } = await provisioner.create({ labels: testLabels() });
      const environment = (await openEnvironment(provisioner.target(id))) as DockerEnvironment;
      environments.push(environment);
      return environment;
    },
    clear,
    async close() {
      await clear();
      await provisioner.close();
    },
  };
}

export interface Heard extends ExecResult {
  readonly text: string;
}

/** Runs a command and keeps what it said. `started` resolves with its first words. */
export function listen(
  environment: Environment,
  command: string,
  options: ExecOptions = {},
): { readonly started: Promise<string>; readonly done: Promise<Heard> } {
  let text = "";
  let begin = (_words: string): void => undefined;
  const started = new Promise<string>((resolve) => {
    begin = resolve;
  });
  const running = environment.exec(command, {
    ...options,
    onOutput(chunk) {
      text += Buffer.from(chunk).toString();
      begin(text);
    },
  });
  const done = running.then((result) => ({ ...result, text }));
  done.catch(() => begin(""));
  return { started, done };
}

export async function say(environment: Environment, command: string): Promise<string> {
  return (await listen(environment, command).done).text;
}
