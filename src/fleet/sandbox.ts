import type { Environment } from "../contract/target.js";
import { attempt, type Ground } from "./ground.js";
import type { FleetUser } from "./names.js";
import { createTurn, type Turn } from "./turn.js";

/** "none": nothing is known to be there. */
export type SandboxState = "none" | "ready" | "paused" | "stopped";

/** One user's sandbox as this process sees it. */
export interface Sandbox {
  readonly name: string;
  /** Lifecycle acts on it, one at a time. */
  readonly turn: Turn;
  user?: FleetUser;
  state: SandboxState;
  id?: string;
  volume: string;
  /** What it was made to be. */
  spec: string;
  /** This process holds its lock. What is below is true only then. */
  owned: boolean;
  environment?: Environment;
  /** Lanes were lost: look before use. */
  suspect: boolean;
  /** Lifecycle acts that run or wait. */
  pending: number;
  /** Leases, and acquires under way. */
  claims: number;
  /** Calls of leases that are given back already. */
  inFlight: number;
  /** Moments of the fleet's clock. */
  idleSinceMs: number;
  ownedSinceMs: number;
  /** What its workspace held when it was last measured. */
  workspaceBytes?: number;
  measuredMs: number;
}

export function newSandbox(name: string, now: number): Sandbox {
  const turn = createTurn();
  const sandbox: Sandbox = {
    name,
    async turn(job) {
      sandbox.pending += 1;
      try {
        return await turn(job);
      } finally {
        sandbox.pending -= 1;
      }
    },
    state: "none",
    volume: "",
    spec: "",
    owned: false,
    suspect: false,
    pending: 0,
    claims: 0,
    inFlight: 0,
    idleSinceMs: now,
    ownedSinceMs: now,
    measuredMs: now,
  };
  return sandbox;
}

/** Closes its connection, in the background: what is stopped or gone does not answer. */
export function dropEnvironment(sandbox: Sandbox): void {
  const { environment } = sandbox;
  sandbox.environment = undefined;
  sandbox.suspect = false;
  if (environment !== undefined) void attempt(environment.close());
}

/** Takes a connection over, and watches it. */
export function attach(sandbox: Sandbox, environment: Environment): void {
  sandbox.environment = environment;
  sandbox.suspect = false;
  environment.onEvent(({ type }) => {
    if (type === "target_lost" && sandbox.environment === environment) sandbox.suspect = true;
  });
}

/** Tells an act on it; `started` is when it began, on the fleet's clock. */
export function tell(ground: Ground, sandbox: Sandbox, act: Parameters<Ground["act"]>[0], started?: number, message?: string): void {
  ground.act(act, sandbox.name, {
    ...sandbox.user,
    ...(started === undefined ? {} : { durationMs: ground.now() - started }),
    ...(message === undefined ? {} : { message }),
  });
}
