import { type Environment, type Layer, openEnvironment, type Target } from "../../index.js";

/*
 * Pi loads its extensions anew for every session of a process and on /reload, this module with them. The environment
 * outlives that: a container made for the process is not thrown away with a session.
 */
const SHARED = Symbol.for("glovebox.pi");
const shared = globalThis as { [SHARED]?: Map<string, Promise<Environment>> };
shared[SHARED] ??= new Map();
const opened = shared[SHARED];

/** The environment of a target, opened when it is asked for first. A failure is forgotten: the next one tries again. */
export async function environmentOf(target: Target, layers: readonly Layer[]): Promise<Environment> {
  const key = `${target.kind} ${target.label}`;
  const known = opened.get(key) ?? openEnvironment(target, { layers });
  opened.set(key, known);
  try {
    return await known;
  } catch (error) {
    if (opened.get(key) === known) opened.delete(key);
    throw error;
  }
}

/** Whether this process has had an environment: it is past its start then. */
export function hasStarted(): boolean {
  return opened.size > 0;
}

/** At the end of the process. */
export async function closeEnvironments(): Promise<void> {
  const environments = await Promise.allSettled([...opened.values()]);
  opened.clear();
  await Promise.allSettled(environments.map(async (settled) => settled.status === "fulfilled" && (await settled.value.close())));
}
