import type { Provisioned, SharedProvisioner } from "../../contract/target.js";

type Labels = Readonly<Record<string, string>>;

/** One engine as this process sees it. */
export interface EngineHealth {
  readonly engine: string;
  readonly alive: boolean;
  /** Why it counts as dead. */
  readonly message?: string;
}

/** A sandbox whose place is known, and whose engine does not answer. */
export interface LostSandbox {
  readonly name: string;
  readonly engine: string;
  /** When it was given its place, by the clock of whoever did: milliseconds since the epoch. */
  readonly placedMs: number;
}

/** A sandbox that is not its user's any more, because a newer one has been made at another engine. Left alone, with its files. */
export interface OlderSandbox {
  readonly sandbox: Provisioned;
  readonly why: string;
}

/** What a provisioner of several engines offers beside. */
export interface SeveralEngines {
  /**
   * From now on notes of that fleet's places are signed, and those without the signature ignored: whoever takes one engine's host
   * over cannot call users of the others there.
   */
  sealWith(fleet: string, seal: (text: string) => string): void;
  health(): readonly EngineHealth[];
  /** Told whenever an engine is marked dead or alive. Returns the function that ends it. */
  onHealth(listener: (act: "engine_lost" | "engine_restored", message: string) => void): () => void;
  /** Whether calls for that sandbox are of use now. */
  reaches(id: string): boolean;
  /** Whether that sandbox may be given this name: its engine lives, and the name is not held at another, nor lost. */
  fits(id: string, name: string): boolean;
  /** The fleet's sandboxes that are out of reach. */
  lost(labels: Labels): Promise<readonly LostSandbox[]>;
  /** The older ones of two, as of the last `list`. */
  older(): readonly OlderSandbox[];
  /**
   * Gives the name of a lost sandbox a new place, where nothing is yet. Resolves to false when it is not lost: the engine is
   * asked once more before.
   */
  abandon(name: string, labels: Labels): Promise<boolean>;
  /**
   * Puts right what the last `list` showed: places noted too seldom, places of nothing. Resolves to the names that this process
   * holds and that have a newer sandbox elsewhere.
   */
  tend(labels: Labels): Promise<readonly string[]>;
}

/** One engine, or several that look like one. */
export interface FleetProvisioner extends SharedProvisioner {
  readonly several?: SeveralEngines;
}
