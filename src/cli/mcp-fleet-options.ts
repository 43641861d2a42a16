import type { FleetCaps, FleetClocks } from "../fleet/index.js";
import { identityOf } from "./fleet-choice.js";
import type { McpOptions } from "./mcp-options.js";
import { UsageError } from "./output.js";

export interface FleetSettings {
  readonly id: string;
  readonly secret: string;
  readonly hosts: readonly string[] | undefined;
  /** What each user gets, as the URL of a new container. */
  readonly sandbox: string;
  readonly warm: number;
  readonly caps: FleetCaps;
  readonly clocks: FleetClocks;
  /** How long a sandbox stays leased after its user's last call. Undefined: the default. */
  readonly idleMs: number | undefined;
}

const CAPS = ["active", "activePerTenant", "total", "totalPerTenant", "waiting", "waitingPerTenant", "creating"];
const CLOCKS: Readonly<Record<string, string>> = {
  pause: "pauseAfterMs",
  stop: "stopAfterMs",
  remove: "removeAfterMs",
  lifetime: "lifetimeMs",
};

/** Undefined without --fleet. */
export function fleetOptionsOf(options: McpOptions): FleetSettings | undefined {
  if (options.fleet === undefined) {
    const alone = (["host", "image", "sandbox", "warm", "caps", "clocks"] as const).find((name) => options[name] !== undefined);
    if (alone !== undefined) throw new UsageError(`--${alone} goes with --fleet, and there is none`);
    return undefined;
  }
  if (options.target !== undefined) {
    throw new UsageError("--fleet gives each user a sandbox of his own, and --target one place to all: leave one of them out");
  }
  if (options.http === undefined || options.tokenFile === undefined) {
    throw new UsageError("--fleet needs --http and --token-file: a user's token says whose sandbox it is");
  }
  const { release, ...clocks } = pairsOf("clocks", options.clocks, [...Object.keys(CLOCKS), "release"]);
  return {
    ...identityOf(options.fleet),
    hosts: options.host,
    sandbox: sandboxOf(options),
    warm: warmOf(options.warm),
    caps: pairsOf("caps", options.caps, CAPS),
    clocks: Object.fromEntries(Object.entries(clocks).map(([name, seconds]) => [CLOCKS[name], seconds * 1000])),
    idleMs: release === undefined ? undefined : Math.min(release * 1000, MAX_TIMER_MS),
  };
}

/** Beyond, a timer fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

function sandboxOf({ sandbox = "docker:", image }: McpOptions): string {
  if (image === undefined) return sandbox;
  return `${sandbox}${sandbox.includes("?") ? "&" : "?"}image=${encodeURIComponent(image)}`;
}

function warmOf(text: string | undefined): number {
  if (text !== undefined && !/^\d{1,4}$/.test(text)) throw new UsageError(`--warm takes a whole number, not ${JSON.stringify(text)}`);
  return Number(text ?? 0);
}

/** `name=number,name=never` by name. */
function pairsOf(option: string, text: string | undefined, known: readonly string[]): Readonly<Record<string, number>> {
  if (text === undefined) return {};
  return Object.fromEntries(
    text.split(",").map((pair) => {
      const [, name = "", value = ""] = /^(\w+)=(\d{1,9}(?:\.\d{1,3})?|never)$/.exec(pair.trim()) ?? [];
      const number = value === "never" ? Number.POSITIVE_INFINITY : Number(value);
      if (!known.includes(name) || !(number > 0)) {
        throw new UsageError(`--${option} takes NAME=NUMBER,… with the names ${known.join(", ")}, not ${JSON.stringify(pair)}`);
      }
      return [name, number] as const;
    }),
  );
}
