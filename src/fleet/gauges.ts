import type { Acquiring } from "./acquiring.js";
import type { EngineHealth } from "./engines/several.js";
import type { Gauge } from "./metrics.js";
import type { Sandbox } from "./sandbox.js";

export interface Gauged {
  readonly known: number;
  readonly acquiring: Pick<Acquiring, "active" | "waiting">;
  readonly warm: number;
  readonly engineIsLost: boolean;
  readonly engines?: readonly EngineHealth[];
}

/** What a fleet has at this moment, for its metrics. */
export function gaugesOf(sandboxes: Iterable<Sandbox>, { known, acquiring, warm, engineIsLost, engines = [] }: Gauged): readonly Gauge[] {
  const states = new Map<string, number>(["ready", "paused", "stopped"].map((state) => [state, 0]));
  let leases = 0;
  for (const { owned, id, state, claims } of sandboxes) {
    leases += claims;
    if (owned && id !== undefined) states.set(state, (states.get(state) ?? 0) + 1);
  }
  const values = [...states].map(([state, value]) => ({ labels: { state }, value }));
  const gauge = (name: string, help: string, value: number): Gauge => ({ name: `glovebox_fleet_${name}`, help, values: [{ value }] });
  const alive = engines.map((engine) => ({ labels: { engine: engine.engine }, value: engine.alive ? 1 : 0 }));
  const byEngine = { name: "glovebox_fleet_engine_alive", help: "Whether each of several engines answered last.", values: alive };
  return [
    { name: "glovebox_fleet_sandboxes", help: "Sandboxes that this process owns, by state.", values },
    gauge("known", "Sandboxes at the engine, as of the last look.", known),
    gauge("active", "Sandboxes with a lease or an acquire under way.", acquiring.active),
    gauge("leases", "Leases and acquires under way.", leases),
    gauge("waiting", "Users waiting for a place.", acquiring.waiting),
    gauge("warm", "Warm sandboxes ready to be claimed.", warm),
    gauge("engine_up", "Whether the engine answered last.", engineIsLost ? 0 : 1),
    ...(alive.length === 0 ? [] : [byEngine]),
  ];
}
