import type { EngineOptions } from "./engine-address.js";

const MIB = 1024 * 1024;

export interface TmpfsOptions {
  readonly sizeBytes: number;
  /** Programs on it can be run. Default false. */
  readonly executable?: boolean;
}

export interface BindOptions {
  /** A directory or file of the engine's host, below `bindBase` once symlinks are resolved. */
  readonly source: string;
  readonly target: string;
  /** Default true. A writable one is the host's own file, without the container's limits on its size. */
  readonly readonly?: boolean;
}

export interface VolumeOptions {
  /** A named volume. Made if missing, with the driver options; never removed by closing. */
  readonly volume: string;
  /** For Docker's local driver: `{ type: "ext4", device: "/dev/…" }` and the like; `nosuid,nodev` is added to `o`. */
  readonly driverOptions?: Readonly<Record<string, string>>;
}

/**
 * The container to make. What is not said is strict: see docs/docker.md for the thirty checks that the defaults pass. Each
 * option that begins with `allow` or `add`, and `writableRootfs`, takes one of them away and is named in `describe()`.
 */
export interface SandboxOptions {
  /** Resolved to its id once, and made from that. It must be there: nothing is pulled. Default `glovebox/sandbox`. */
  readonly image?: string;
  /** Numeric `uid` or `uid:gid`. Default `1000:1000`. */
  readonly user?: string;
  /** The workspace, and where relative paths start. Default `/workspace`. */
  readonly workdir?: string;
  /** "ephemeral": a tmpfs, lost when the container stops. A volume survives stop, restart and removal. Default "ephemeral". */
  readonly workspace?: "ephemeral" | VolumeOptions;
  /** Size of an ephemeral workspace; what is in it counts as memory. Default 512 MiB. */
  readonly workspaceBytes?: number;
  /** Memory of all processes and tmpfs together; there is no swap beyond it. Default 1 GiB. */
  readonly memoryBytes?: number;
  /** Default 1. */
  readonly cpus?: number;
  /** Processes and threads. Default 256. */
  readonly pids?: number;
  /**
   * "none" (default); "isolated": a bridge of its own, with a way out and no neighbours, removed with the container; or the
   * name of a network, with `allowNeighbours`.
   */
  readonly network?: string;
  /** `runc`, `runsc` or what the engine knows. Default: the engine's own. */
  readonly runtime?: string;
  /** Writable places in memory, beside the workspace, `/tmp` and the home directory, whose sizes can be set here too. */
  readonly tmpfs?: Readonly<Record<string, TmpfsOptions>>;
  /** Directories of the engine's host. Needs `bindBase`, and an engine on this machine. */
  readonly binds?: readonly BindOptions[];
  readonly bindBase?: string;
  /** Anyone who may inspect the container can read these. */
  readonly env?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly name?: string;
  /** Packages can be installed, by a root that is allowed too; nothing limits what is written to the engine's disk. */
  readonly writableRootfs?: boolean;
  /** Lets `user` be 0, which is root on the host but for its capabilities. */
  readonly allowRoot?: boolean;
  /** Capabilities that are not dropped: `["NET_BIND_SERVICE"]`. */
  readonly addCapabilities?: readonly string[];
  /** Lets `network` name one that others are on, the default bridge included. */
  readonly allowNeighbours?: boolean;
  /** Lets `env` hold what looks like a secret. */
  readonly allowSecretsInInspect?: boolean;
}

export interface AttachOptions {
  /** A running container's whole name or full id. */
  readonly container: string;
  /** Who commands run as. Default: the container's own user. */
  readonly user?: string;
  /** Where relative paths start. Default: the container's own working directory. */
  readonly cwd?: string;
  /** Attaches although the audit refuses these items: `["D13"]` for a container that holds the engine's socket. */
  readonly allowUnsafeContainer?: readonly string[];
}

/** Either a container to attach to, which closing leaves alone, or one to make, which closing removes. */
export type DockerOptions = EngineOptions & (AttachOptions | SandboxOptions);

export const DEFAULTS = {
  image: "glovebox/sandbox",
  user: "1000:1000",
  workdir: "/workspace",
  home: "/home/sandbox",
  workspaceBytes: 512 * MIB,
  memoryBytes: 1024 * MIB,
  cpus: 1,
  pids: 256,
  tmpBytes: 128 * MIB,
  homeBytes: 64 * MIB,
  maxFileBytes: 1024 * MIB,
  maxOpenFiles: 4096,
} as const;
