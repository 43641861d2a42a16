import type { ContainerInspectInfo } from "dockerode";
import { inspectContainer } from "./containers.js";
import { DEADLINE_MS, type Engine } from "./engine.js";
import { knownHoles } from "./known-holes.js";
import { LABEL } from "./owner.js";

export interface DockerDescription {
  readonly isolation: string;
  readonly warnings: readonly string[];
  readonly facts: Readonly<Record<string, string | number | boolean>>;
}

/** What bounds a command in the container, by the engine's own account. Three calls, side by side. */
export async function describeContainer(engine: Engine, id: string, user: string): Promise<DockerDescription> {
  const look = { deadlineMs: DEADLINE_MS.inspect, readOnly: true };
  const [container, version, info] = await Promise.all([
    inspectContainer(engine, id),
    engine.call({ ...look, what: "tell its version" }, (docker) => docker.version()),
    engine.call({ ...look, what: "describe itself" }, (docker) => docker.info() as Promise<EngineInfo>),
  ]);
  const components = (version as { Components?: readonly { readonly Name: string; readonly Version: string }[] }).Components ?? [];
  const runc = components.find(({ Name }) => Name === "runc")?.Version ?? "";
  const runtime = container.HostConfig.Runtime ?? info.DefaultRuntime ?? "runc";
  const remapped = (info.SecurityOptions ?? []).some((option) => option.includes("name=userns") || option.includes("name=rootless"));
  const warnings = runtime === "runc" ? [...knownHoles(runc)] : [];
  if (!remapped) warnings.push("userns-remap is off at this engine (D38): a user id in the container is the same user id on its host.");
  return {
    isolation: isolationOf(container, runtime, user),
    warnings,
    facts: {
      container: container.Name.slice(1),
      containerId: container.Id,
      image: container.Config.Labels?.[LABEL.image] ?? container.Config.Image,
      imageId: container.Image,
      user,
      memoryBytes: container.HostConfig.Memory ?? 0,
      cpus: (container.HostConfig.NanoCpus ?? 0) / 1e9,
      pids: container.HostConfig.PidsLimit ?? 0,
      network: container.HostConfig.NetworkMode ?? "default",
      runtime,
      ...(runc === "" ? {} : { runcVersion: runc }),
      readonlyRootfs: container.HostConfig.ReadonlyRootfs === true,
      userNamespaceRemapped: remapped,
      engine: engine.label,
      engineVersion: version.Version,
    },
  };
}

interface EngineInfo {
  readonly SecurityOptions?: readonly string[];
  readonly DefaultRuntime?: string;
}

function isolationOf({ HostConfig: host }: ContainerInspectInfo, runtime: string, user: string): string {
  const kernel =
    runtime === "runc" || runtime === "crun" ? "it shares the host's kernel and is not a virtual machine" : `runtime ${runtime}`;
  const root = host.ReadonlyRootfs ? "read-only system" : "writable system";
  return `a container: ${kernel}; user ${user}, ${root}, network ${host.NetworkMode ?? "default"}${host.Privileged ? ", PRIVILEGED" : ""}`;
}
