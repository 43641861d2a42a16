import { createHash } from "node:crypto";
import { GloveboxError } from "../contract/errors.js";
import type { GloveboxEvent } from "../contract/events.js";
import type { Environment, Layer } from "../contract/target.js";
import type { FleetProvisioner } from "./engines/several.js";
import type { FleetUser } from "./names.js";

/** What a user's sandbox gets that others do not. */
export interface UserConfig {
  /** Around the environment of each of his leases, the outermost first. */
  readonly layers?: readonly Layer[];
  /**
   * Runs once in a new sandbox before anyone else sees it: `seed(environment, …)` for one. Not for a fork. A rejection removes the
   * sandbox and fails the acquire.
   */
  prepare?(environment: Environment, options: { readonly signal: AbortSignal }): Promise<void>;
}

/** How many. Beyond `active` an acquire waits in line; beyond the others it is refused, `busy`. */
export interface FleetCaps {
  /** Sandboxes leased at once by this process. Default 50. */
  readonly active?: number;
  /** Default: all of `active`. */
  readonly activePerTenant?: number;
  /** Sandboxes that exist, idle ones of all processes among them, as of the last look at the engine. Default 1,000. */
  readonly total?: number;
  /** Default: all of `total`. */
  readonly totalPerTenant?: number;
  /** Leases of one user at once in this process. Default 64. */
  readonly leasesPerUser?: number;
  /** Users who wait for their sandbox to become active. Default 10,000. */
  readonly waiting?: number;
  /** Default: all of `waiting`. */
  readonly waitingPerTenant?: number;
  /** Sandboxes being made, started, stopped or removed at once: more only make each other late. Default 4. */
  readonly creating?: number;
}

/**
 * How long a sandbox without a lease stays as it is, each counted from the last lease's end. `Infinity` switches a step
 * off. Time is the process's own monotonic clock, so a clock that jumps reaps nothing.
 */
export interface FleetClocks {
  /** Default 1 minute. */
  readonly pauseAfterMs?: number;
  /** Default 30 minutes. */
  readonly stopAfterMs?: number;
  /** With its files. Default 7 days. */
  readonly removeAfterMs?: number;
  /** Since this process has had it, leased or not; at its end it is removed once the last lease is given back. Default: never. */
  readonly lifetimeMs?: number;
  /** How often clocks and other processes' wishes are looked at. Default 500. */
  readonly tickMs?: number;
  /** How often the engine is asked what there is. Default 5,000. */
  readonly reconcileMs?: number;
  /** How often a leased sandbox's workspace is measured, where `maxWorkspaceBytes` is set. Default 1 minute. */
  readonly measureMs?: number;
}

export interface WarmOptions {
  /** Sandboxes kept ready for the next new users of this process. Default 0. */
  readonly size?: number;
  /** They wait paused, at no cost of CPU; a claim then takes some 20 ms longer. Default true. */
  readonly paused?: boolean;
}

export interface FleetOptions {
  /** Makes the sandboxes, all alike: `dockerProvisioner({ memoryBytes, cpus, … })`, or `engines([…])` of several. Whoever made it closes it. */
  readonly provisioner: FleetProvisioner;
  /** 1 to 20 small letters and digits. All processes with the same id, secret and engine are one fleet. */
  readonly id: string;
  /** Seals what the fleet makes and hides who its users are. At least 16 characters; lost, the sandboxes are nobody's. */
  readonly secret: string;
  /** What the provisioner makes, as data, such as its options: when it changes, sandboxes are replaced, with their files. */
  readonly spec?: unknown;
  /** Called for each acquire. */
  config?(user: FleetUser): UserConfig;
  /** Each sandbox gets a volume of its own, which holds its files until it is removed. Default true. False: files end with a stop. */
  readonly volumes?: boolean;
  readonly caps?: FleetCaps;
  readonly clocks?: FleetClocks;
  readonly warm?: WarmOptions;
  /**
   * A soft bound: what a workspace holds is measured now and then, and beyond this `write` and `edit` are refused, `no_space`,
   * until files were deleted. Commands can go on. Default `Infinity`: not measured.
   */
  readonly maxWorkspaceBytes?: number;
  /** Refuses new sandboxes, `busy`, while the engine's machine has less to give. Default 0: does not ask. */
  readonly minimumFreeBytes?: number;
  readonly onEvent?: (event: GloveboxEvent) => void;
  /** False: nothing happens by itself, no clocks, no adoption: for a command that does one thing and ends. Default true. */
  readonly attend?: boolean;
  /** A clock that never goes back, in milliseconds. For tests. Default `performance.now`. */
  readonly now?: () => number;
}

export interface FleetSettings {
  readonly caps: Required<FleetCaps>;
  readonly clocks: Required<FleetClocks>;
  readonly warm: Required<WarmOptions>;
  readonly spec: string;
  readonly volumes: boolean;
  readonly maxWorkspaceBytes: number;
}

const MINUTE_MS = 60_000;

/** The options with their defaults. Throws `invalid_argument` for a number that cannot be. */
export function fleetSettings(options: FleetOptions): FleetSettings {
  const { caps = {}, clocks = {}, warm = {} } = options;
  const { active = 50, total = 1_000, waiting = 10_000 } = caps;
  const settings = {
    caps: {
      active,
      activePerTenant: caps.activePerTenant ?? active,
      total,
      totalPerTenant: caps.totalPerTenant ?? total,
      leasesPerUser: caps.leasesPerUser ?? 64,
      waiting,
      waitingPerTenant: caps.waitingPerTenant ?? waiting,
      creating: caps.creating ?? 4,
    },
    clocks: {
      pauseAfterMs: clocks.pauseAfterMs ?? MINUTE_MS,
      stopAfterMs: clocks.stopAfterMs ?? 30 * MINUTE_MS,
      removeAfterMs: clocks.removeAfterMs ?? 7 * 24 * 60 * MINUTE_MS,
      lifetimeMs: clocks.lifetimeMs ?? Number.POSITIVE_INFINITY,
      tickMs: clocks.tickMs ?? 500,
      reconcileMs: clocks.reconcileMs ?? 5_000,
      measureMs: clocks.measureMs ?? MINUTE_MS,
    },
    warm: { size: warm.size ?? 0, paused: warm.paused ?? true },
    spec: createHash("sha256")
      .update(JSON.stringify(options.spec ?? null))
      .digest("hex")
      .slice(0, 32),
    volumes: options.volumes ?? true,
    maxWorkspaceBytes: options.maxWorkspaceBytes ?? Number.POSITIVE_INFINITY,
  };
  const { maxWorkspaceBytes } = settings;
  for (const [name, value] of Object.entries({ ...settings.caps, ...settings.clocks, maxWorkspaceBytes })) {
    if (!(value > 0)) throw refuse(name, value, "more than 0");
  }
  if (!Number.isInteger(settings.warm.size) || settings.warm.size < 0)
    throw refuse("warm.size", settings.warm.size, "a whole number, 0 or more");
  return settings;
}

function refuse(name: string, value: unknown, what: string): GloveboxError {
  return new GloveboxError("invalid_argument", `The fleet's option ${name} must be ${what}, not ${String(value)}.`);
}
