import { GloveboxError } from "../contract/errors.js";
import type { FleetAct, GloveboxEvent } from "../contract/events.js";
import type { FleetProvisioner } from "./engines/several.js";
import type { FleetNames } from "./names.js";
import type { FleetSettings } from "./options.js";

/** What all parts of one fleet stand on. */
export interface Ground {
  readonly id: string;
  readonly provisioner: FleetProvisioner;
  readonly names: FleetNames;
  readonly settings: FleetSettings;
  readonly minimumFreeBytes: number;
  now(): number;
  emit(event: GloveboxEvent): void;
  /** Counts an act and tells it. */
  act(act: FleetAct, sandbox: string, facts?: ActFacts): void;
}

export interface ActFacts {
  readonly key?: string;
  readonly tenant?: string;
  readonly durationMs?: number;
  readonly message?: string;
}

/** Whether an error says that the thing is not there, or does not run. */
export function isGone(error: unknown): boolean {
  return error instanceof GloveboxError && (error.code === "gone" || error.code === "not_found");
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Removing goes on where a part of it fails: what is left is found at the next look at the engine. */
export async function attempt(work: Promise<unknown>): Promise<boolean> {
  return await work.then(
    () => true,
    () => false,
  );
}
