import { readFile } from "node:fs/promises";
import type { Engine } from "./engine.js";

/** Of this machine, when the engine is on it: the engine's own API does not tell. */
export async function freeMemoryBytes({ local }: Pick<Engine, "local">): Promise<number | undefined> {
  if (!local) return undefined;
  const facts = await readFile("/proc/meminfo", "latin1").catch(() => "");
  const [, kibibytes] = /^MemAvailable:\s+(\d+) kB$/m.exec(facts) ?? [];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}
