import { GloveboxError } from "../contract/errors.js";
import type { Environment, Layer } from "../contract/target.js";
import type { FleetUser } from "./names.js";
import type { Sandbox } from "./sandbox.js";

/** A user's right to use his sandbox, until it is given back. */
export interface Lease extends AsyncDisposable {
  readonly user: FleetUser;
  /** The sandbox's name at the engine. */
  readonly sandbox: string;
  /** His sandbox. Closing it gives the lease back; the sandbox stays. */
  readonly environment: Environment;
  /** Idempotent. Calls still under way go on, and keep the sandbox from being paused; new ones reject `gone`. */
  release(): Promise<void>;
}

const VERBS = ["readFile", "writeFile", "stat", "readdir", "realpath", "exec", "grep", "find"] as const;

export interface LeaseOptions {
  readonly user: FleetUser;
  readonly sandbox: Sandbox;
  readonly environment: Environment;
  readonly layers: readonly Layer[];
  onRelease(): void;
  now(): number;
  /** Rejects where nothing may be written now. */
  checkWrite(): Promise<void>;
}

export function createLease({ user, sandbox, environment, layers, onRelease, now, checkWrite }: LeaseOptions): Lease {
  let released = false;
  const release = async (): Promise<void> => {
    if (released) return;
    released = true;
    onRelease();
  };
  const guarded = (verb: (typeof VERBS)[number]) => {
    const act = environment[verb] as (...given: never[]) => Promise<unknown>;
    return async (...given: never[]): Promise<unknown> => {
      if (released) {
        throw new GloveboxError("gone", "The lease of this sandbox was given back. Acquire it again to go on.", { retrySafe: true });
      }
      sandbox.inFlight += 1;
      try {
        if (verb === "writeFile") await checkWrite();
        return await act(...given);
      } finally {
        sandbox.inFlight -= 1;
        if (released) sandbox.idleSinceMs = now();
      }
    };
  };
  const verbs = Object.fromEntries(VERBS.map((verb) => [verb, guarded(verb)]));
  const leased: Environment = Object.assign(Object.create(environment) as Environment, verbs, {
    close: release,
    [Symbol.asyncDispose]: release,
  });
  return {
    user,
    sandbox: sandbox.name,
    environment: layers.reduceRight((inner, layer) => layer(inner), leased),
    release,
    [Symbol.asyncDispose]: release,
  };
}
