import type { GloveboxEvent } from "./events.js";
import type { FileVerbs, SearchVerbs, ShellVerbs, VerbName, Verbs } from "./operations.js";

/** What a target can do. The contract suite reads the same record, so an adapter cannot say one thing and be tested for another. */
export interface Capabilities {
  /** `exec` works at all. */
  readonly exec: boolean;
  /** Commands are real processes: they can be killed, left in the background, counted. */
  readonly processes: boolean;
  /** The shell that runs commands: "bash", "sh"; absent without real processes. */
  readonly shell?: string;
  readonly symlinks: boolean;
  readonly hardLinks: boolean;
  /** FIFOs, sockets and devices can exist. */
  readonly specialFiles: boolean;
  /** Permission bits are stored and, for a user who is not root, enforced. */
  readonly modes: boolean;
  /** File and directory are synced before a write is acknowledged. */
  readonly durable: boolean;
  /**
   * How `root` is enforced. "race_free": no escape even under a symlink-swapping attacker; "checked": checked in the same
   * trip, with a stated residual race; "boundary": the target itself (container, account, memory) is the boundary.
   */
  readonly confinement: "race_free" | "checked" | "boundary";
  /** What searches run on. */
  readonly grep: "ripgrep" | "grep" | "walk";
  readonly find: "fd" | "find" | "walk";
}

/** Facts for people and for `doctor`. JSON-safe; no secrets. */
export interface TargetDescription {
  readonly kind: string;
  readonly label: string;
  /** One line: what bounds a command here. "none: commands run as you, on this machine". */
  readonly isolation: string;
  /** Known holes and weakenings, one sentence each. */
  readonly warnings: readonly string[];
  /** Anything else: user, limits, network, runtime, tools found. */
  readonly facts: Readonly<Record<string, string | number | boolean>>;
}

/** Where an environment's verbs act, in the target's own namespace. All paths absolute and canonical. */
export interface Place {
  /**
   * Identity of the file namespace: equal for two connections exactly when equal paths mean the same file (same container
   * id; same host, port and user; same machine for local). Locks and queues are keyed by it.
   */
  readonly id: string;
  /** Working directory: relative paths start here. */
  readonly cwd: string;
  /** The confinement root, where one is set. */
  readonly root?: string;
  /** The home directory of the account on the target, where it has one. */
  readonly home?: string;
  /**
   * A directory of this connection's own under the target's temp directory, made on first write, removed on close; file
   * verbs reach it even when `root` is narrower. Long outputs are kept here.
   */
  readonly spoolDirectory: string;
}

/**
 * What an adapter supplies: the five file verbs, and `exec`, `grep`, `find` where it can. Paths come in absolute (the
 * normalize layer joins them to `cwd` without collapsing `..`), free of NUL and lone surrogates.
 * `close` is idempotent, kills what commands of this connection still run, and releases everything on the target.
 */
export interface Connection<Extras extends object = object> extends Place, FileVerbs, Partial<ShellVerbs>, Partial<SearchVerbs> {
  readonly capabilities: Capabilities;
  /** Members that this kind of target adds to the environment: memory's `calls`, docker's `containerId`. */
  readonly extras?: Extras;
  describe(): Promise<TargetDescription>;
  close(): Promise<void>;
}

export interface ConnectOptions {
  readonly signal?: AbortSignal;
  /** Events of the connection's own: lost, restored, swept. */
  readonly onEvent?: (event: GloveboxEvent) => void;
}

/** Where: one place that can be connected to. Made by an adapter's function: `local(".")`, `docker({ image })`. */
export interface Target<Extras extends object = object> {
  /** The URL scheme: "local", "memory", "docker", "ssh". */
  readonly kind: string;
  /** For people and error messages. Never holds a secret. */
  readonly label: string;
  connect(options: ConnectOptions): Promise<Connection<Extras>>;
}

/** A target URL, parsed by its generic shape only: `scheme://authority/path?options` or `scheme:path?options`. */
export interface TargetAddress {
  readonly scheme: string;
  /** User, host and port as written, percent-decoding left to the adapter; "" when there is none. */
  readonly authority: string;
  /** Percent-decoded. Absolute for `scheme://authority/path`; as written for `local:PATH`. */
  readonly path: string;
  /** Query parameters in order of appearance. Adapters refuse those they do not know. */
  readonly options: ReadonlyMap<string, string>;
  readonly text: string;
}

/** How to reach one kind of target: one function. Throws `invalid_argument` for an address it does not understand. */
export type Adapter = (address: TargetAddress) => Target;

/** A live target, complete: all eight verbs, whatever the adapter left out. Close it, or `await using` it. */
export interface Environment extends Place, Verbs, AsyncDisposable {
  readonly kind: string;
  readonly label: string;
  readonly capabilities: Capabilities;
  /**
   * The mutation-queue key of a path: target id plus the canonical path where an earlier reply taught it, else the path
   * normalised lexically. Costs no round trip. What was learned is forgotten when a command runs.
   */
  mutationKey(path: string): string;
  describe(): Promise<TargetDescription>;
  /** Events of this environment, in order. A slow or throwing listener harms nobody. Returns the function that unsubscribes. */
  onEvent(listener: (event: GloveboxEvent) => void): () => void;
  /** Tells the listeners of an event: for layers, and for whoever runs tools on this environment. Never throws. */
  emit(event: GloveboxEvent): void;
  close(): Promise<void>;
}

/** Wraps an environment. Written with `intercept` (src/layers/intercept.ts) in all but rare cases. */
export type Layer = (environment: Environment) => Environment;

/** One verb call on its way through the layers. */
export interface VerbCall {
  readonly verb: VerbName;
  /** The path, root or working directory it acts on, where it has one. */
  readonly path?: string;
  /** The command of `exec`, the pattern of `grep` and `find`. */
  readonly text?: string;
  /** Bytes of a write's payload. */
  readonly bytes?: number;
  readonly signal?: AbortSignal;
}

export type ProvisionedState = "created" | "running" | "paused" | "stopped" | "gone";

export interface Provisioned {
  readonly id: string;
  readonly name: string;
  readonly state: ProvisionedState;
  readonly labels: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch, by the engine's clock. */
  readonly createdMs: number;
  /** The process that made it, where the adapter can tell. */
  readonly maker?: Maker;
  /** The engine that has it, where there are several. */
  readonly engine?: string;
}

/** "self": this process; "dead": one that provably runs no more; "other": any else, alive or beyond proof. */
export type Maker = "self" | "dead" | "other";

export interface ProvisionRequest {
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** The workspace is this named volume, made with the same labels unless it is there. Outlives the target. */
  readonly volume?: string;
  /** Of several engines, the one that has the sandbox of this name, or is to have it. */
  readonly near?: string;
  readonly signal?: AbortSignal;
}

/** The lifecycle face of an adapter that owns what it reaches (docker). All calls are idempotent where their name allows it. */
export interface Provisioner {
  create(request: ProvisionRequest): Promise<Provisioned>;
  list(labels: Readonly<Record<string, string>>, options?: { readonly signal?: AbortSignal }): Promise<readonly Provisioned[]>;
  start(id: string): Promise<void>;
  stop(id: string): Promise<void>;
  pause(id: string): Promise<void>;
  resume(id: string): Promise<void>;
  /** Settles the race for a name: rejects `exists` when another holds it. */
  rename(id: string, name: string): Promise<void>;
  remove(id: string): Promise<void>;
  /** A tar stream of the workspace. */
  export(id: string): Promise<AsyncIterable<Uint8Array>>;
  /** The target that connects to it. */
  target(id: string): Target;
}

/** A volume, or a lock, at the engine. */
export interface ProvisionedVolume {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly maker: Maker;
  readonly isLock: boolean;
}

export interface VolumeCopy {
  /** All of its files, with owners, modes and links. None: the new one is empty. */
  readonly from?: string;
  /** The new one's name. */
  readonly to: string;
  readonly labels: Readonly<Record<string, string>>;
  /**
   * The sandbox that has `from`: what it changed in its own system, where it may, is kept with the copy, goes with it, and
   * is what a sandbox made with that volume starts from. Without it that of `from` is.
   */
  readonly systemOf?: string;
  readonly signal?: AbortSignal;
}

/** What several processes at one engine need beside: names looked up, volumes that are kept, locks that outlive their holder. */
export interface SharedProvisioner extends Provisioner {
  /** The one that bears this name now. Volumes' and locks' names are apart from these. */
  find(name: string, options?: { readonly signal?: AbortSignal }): Promise<Provisioned | undefined>;
  /** Volumes and locks that bear all these labels. */
  volumes(labels: Readonly<Record<string, string>>): Promise<readonly ProvisionedVolume[]>;
  /** One that is gone is fine. Rejects `busy` while it is in use. */
  removeVolume(name: string): Promise<void>;
  /**
   * Takes a lock at the engine in the name of this process, that of a provably dead holder included. Resolves to false
   * while somebody else, or this provisioner itself, holds it: it does not wait. Of several engines, the one that has the
   * sandbox of the id, or the volume, `near` is preferred for a name that has no place yet.
   */
  lock(name: string, labels: Readonly<Record<string, string>>, near?: string): Promise<boolean>;
  /** Gives back a lock that this provisioner took. One that is gone is fine. */
  unlock(name: string): Promise<void>;
  /**
   * Makes a new volume, for snapshots and forks. What it holds is of one moment only while nobody writes to its source. Nothing
   * stays behind when it rejects; `exists` when there is one of that name. Absent where volumes cannot be copied.
   */
  copyVolume?(copy: VolumeCopy): Promise<void>;
  /** Memory that the engine's machine could give to processes now; undefined where that cannot be told. */
  freeMemoryBytes(): Promise<number | undefined>;
  /** Closes the connections to the engine. What it made stays. */
  close(): Promise<void>;
}

/** What speaks for making the next sandbox at an engine. */
export interface EngineCapacity {
  readonly hasImage: boolean;
  /** Memory that could still be given to sandboxes: see the adapter for how it knows. Undefined where it cannot be told. */
  readonly freeBytes?: number;
  /** Memory that one of these sandboxes may use. */
  readonly sandboxBytes: number;
}

/** What a fleet over several engines asks of each of them beside. */
export interface EngineProvisioner extends SharedProvisioner {
  /**
   * Makes an empty volume of that name, unless there is one, and resolves to the labels that it bears: those of its first
   * maker. It is nobody's lock and stays until `removeVolume`.
   */
  mark(name: string, labels: Readonly<Record<string, string>>): Promise<Readonly<Record<string, string>>>;
  capacity(): Promise<EngineCapacity>;
}
