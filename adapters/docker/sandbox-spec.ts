import type { ContainerCreateOptions, HostConfig, MountSettings } from "dockerode";
import { checkBinds } from "./binds.js";
import { checkContainerPath, checkLabels, checkUser, checkUserName, checkVariables, refuse } from "./names.js";
import { DEFAULTS, type SandboxOptions, type TmpfsOptions } from "./options.js";

/** What a sandbox will be, checked and complete, before anything is asked of the engine. */
export interface SandboxSpec {
  readonly image: string;
  readonly name: string | undefined;
  /** `uid:gid`. */
  readonly user: string;
  readonly workdir: string;
  readonly volume: { readonly name: string; readonly driverOptions: Readonly<Record<string, string>> } | undefined;
  readonly network: "none" | "isolated" | { readonly name: string };
  /** Sentences about what was weakened. */
  readonly warnings: readonly string[];
  /** Without its name, image and labels of ours. */
  readonly create: ContainerCreateOptions;
}

/** Checks every option; throws `invalid_argument`. `local`: the engine is on this machine. */
export function sandboxSpec(options: SandboxOptions, local: boolean): SandboxSpec {
  const warnings: string[] = [];
  const { uid, gid } = checkUser(options.user ?? DEFAULTS.user, options.allowRoot === true);
  const workdir = checkContainerPath(options.workdir ?? DEFAULTS.workdir, "the option workdir");
  if (workdir === "/" || workdir === "/tmp") throw refuse(`The option workdir cannot be ${workdir}: choose a directory of its own`);
  const workspace = options.workspace ?? "ephemeral";
  const volume = workspace === "ephemeral" ? undefined : checkVolume(workspace, warnings);
  const binds = checkBinds(options, local, warnings);
  const network = checkNetwork(options, warnings);
  const capabilities = checkCapabilities(options.addCapabilities ?? [], warnings);
  if (uid === 0 || gid === 0) warnings.push("allowRoot: commands run as root, which is root on the host but for its capabilities.");
  if (options.writableRootfs)
    warnings.push("writableRootfs: commands can change the container's system, and nothing limits what they write to the engine's disk.");
  const memory = positive("memoryBytes", options.memoryBytes ?? DEFAULTS.memoryBytes, 6 * 1024 * 1024);
  const mounts: MountSettings[] = [...binds];
  if (volume !== undefined) mounts.push({ Type: "volume", Source: volume.name, Target: workdir });
  const host: HostConfig = {
    Init: true,
    ReadonlyRootfs: options.writableRootfs !== true,
    CapDrop: ["ALL"],
    CapAdd: capabilities,
    SecurityOpt: ["no-new-privileges"],
    NetworkMode: network === "none" ? "none" : undefined,
    IpcMode: "private",
    Memory: memory,
    MemorySwap: memory,
    NanoCpus: Math.round(positive("cpus", options.cpus ?? DEFAULTS.cpus, 0.01) * 1e9),
    PidsLimit: positive("pids", options.pids ?? DEFAULTS.pids, 8),
    Ulimits: [
      { Name: "nofile", Soft: DEFAULTS.maxOpenFiles, Hard: DEFAULTS.maxOpenFiles },
      { Name: "core", Soft: 0, Hard: 0 },
      { Name: "fsize", Soft: DEFAULTS.maxFileBytes, Hard: DEFAULTS.maxFileBytes },
    ],
    LogConfig: { Type: "none", Config: {} },
    RestartPolicy: { Name: "no" },
    Tmpfs: tmpfsMounts(options, workdir, { uid, gid }, volume === undefined),
    Mounts: mounts,
    ...(options.runtime === undefined ? {} : { Runtime: checkRuntime(options.runtime) }),
  };
  const env = { HOME: DEFAULTS.home, ...checkVariables(options.env ?? {}, options.allowSecretsInInspect === true) };
  return {
    image: options.image ?? DEFAULTS.image,
    name: options.name === undefined ? undefined : checkUserName(options.name, "container"),
    user: `${uid}:${gid}`,
    workdir,
    volume,
    network,
    warnings,
    create: {
      // The image's own entry point is not what should run here; nor are its health checks.
      Entrypoint: ["sleep"],
      Cmd: ["infinity"],
      Healthcheck: { Test: ["NONE"] },
      User: `${uid}:${gid}`,
      WorkingDir: workdir,
      Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
      Labels: { ...checkLabels(options.labels ?? {}) },
      HostConfig: host,
    },
  };
}

function tmpfsMounts(
  options: SandboxOptions,
  workdir: string,
  { uid, gid }: { readonly uid: number; readonly gid: number },
  workspaceInMemory: boolean,
): Readonly<Record<string, string>> {
  const mine = (mode: string, { sizeBytes, executable = false }: TmpfsOptions): string =>
    `rw,nosuid,nodev,${executable ? "exec" : "noexec"},size=${positive("sizeBytes", sizeBytes, 4096)},mode=${mode},uid=${uid},gid=${gid}`;
  const wanted = new Map<string, string>();
  wanted.set("/tmp", mine("1777", { sizeBytes: DEFAULTS.tmpBytes }));
  wanted.set(DEFAULTS.home, mine("0700", { sizeBytes: DEFAULTS.homeBytes, executable: true }));
  for (const [path, tmpfs] of Object.entries(options.tmpfs ?? {})) {
    const target = checkContainerPath(path, "a key of the option tmpfs");
    if (target === "/" || target === workdir) throw refuse(`The option tmpfs cannot have ${target}`);
    wanted.set(target, mine(target === "/tmp" ? "1777" : "0700", tmpfs));
  }
  if (workspaceInMemory)
    wanted.set(workdir, mine("0755", { sizeBytes: options.workspaceBytes ?? DEFAULTS.workspaceBytes, executable: true }));
  return Object.fromEntries(wanted);
}

function checkVolume(
  { volume, driverOptions = {} }: { readonly volume: string; readonly driverOptions?: Readonly<Record<string, string>> },
  warnings: string[],
) {
  const name = checkUserName(volume, "volume");
  const { o, ...rest } = driverOptions;
  const mounted = Object.keys(rest).length > 0;
  if (!mounted) {
    warnings.push(
      "volume: the engine mounts plain volumes without nosuid,nodev (inert here: no-new-privileges, no devices) and without a limit of size.",
    );
  }
  return { name, driverOptions: mounted ? { ...rest, o: [...(o ? [o] : []), "nosuid", "nodev"].join(",") } : {} };
}

function checkNetwork({ network = "none", allowNeighbours = false }: SandboxOptions, warnings: string[]): SandboxSpec["network"] {
  if (network === "none") return network;
  if (network === "isolated") {
    warnings.push("network isolated: commands reach the internet, the engine's host and its cloud metadata address.");
    return network;
  }
  if (network === "host" || network.startsWith("container:") || network.startsWith("ns:")) {
    throw refuse(`The network ${JSON.stringify(network)} is not for a sandbox: choose "none" or "isolated"`);
  }
  const name = network === "bridge" || network === "default" ? network : checkNetworkName(network);
  if (!allowNeighbours)
    throw refuse(`Others can be on the network ${name} and reach the sandbox: choose "isolated", or set allowNeighbours`);
  warnings.push(`allowNeighbours: commands reach, and are reached by, everything on the network ${name}.`);
  return { name };
}

function checkNetworkName(text: string): string {
  if (/^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}$/.test(text)) return text;
  throw refuse(`${JSON.stringify(text.slice(0, 80))} is not the name of a network`);
}

function checkRuntime(text: string): string {
  if (/^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}$/.test(text)) return text;
  throw refuse(`${JSON.stringify(text.slice(0, 80))} is not the name of a runtime`);
}

function checkCapabilities(names: readonly string[], warnings: string[]): string[] {
  for (const name of names) {
    if (!/^(?:CAP_)?[A-Z_]{3,40}$/.test(name) || name === "ALL" || name === "CAP_ALL") {
      throw refuse(`${JSON.stringify(name.slice(0, 80))} cannot be added: name single capabilities, such as NET_BIND_SERVICE`);
    }
  }
  if (names.length > 0) warnings.push(`addCapabilities: commands hold ${names.join(", ")}, each a part of root's power over the host.`);
  return [...names];
}

function positive(option: string, value: number, least: number): number {
  if (Number.isFinite(value) && value >= least && value <= Number.MAX_SAFE_INTEGER && (option === "cpus" || Number.isInteger(value)))
    return value;
  throw refuse(`The option ${option} must be ${option === "cpus" ? "a number" : "a whole number"} of at least ${least}`);
}
