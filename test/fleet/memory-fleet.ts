import { memory } from "../../adapters/memory/index.js";
import type { GloveboxEvent } from "../../src/contract/events.js";
import type { SharedProvisioner } from "../../src/contract/target.js";
import { createFleet, type Fleet, type FleetOptions, targetProvisioner } from "../../src/fleet/index.js";

export const SECRET = "a secret for tests only";

export interface MemoryFleet extends AsyncDisposable {
  readonly fleet: Fleet;
  readonly provisioner: SharedProvisioner;
  readonly events: GloveboxEvent[];
  /** The acts told so far, in order. */
  acts(): readonly string[];
  /** Moves the fleet's clock on, and lets it act on that. */
  pass(ms: number): Promise<void>;
}

/** A fleet of memory sandboxes with a clock of its own. */
export function memoryFleet(options: Partial<FleetOptions> = {}): MemoryFleet {
  const provisioner = options.provisioner ?? targetProvisioner({ target: () => memory() });
  const events: GloveboxEvent[] = [];
  let clock = 0;
  const fleet = createFleet({
    provisioner,
    id: "test",
    secret: SECRET,
    now: () => clock,
    onEvent: (event) => void events.push(event),
    ...options,
    clocks: { tickMs: 5, ...options.clocks },
  });
  return {
    fleet,
    provisioner,
    events,
    acts: () => events.flatMap((event) => (event.type === "fleet_act" ? [event.act] : [])),
    async pass(ms) {
      clock += ms;
      await new Promise((resolve) => setTimeout(resolve, 40));
    },
    [Symbol.asyncDispose]: () => fleet.close(),
  };
}

/** The provisioner with some of its calls done otherwise. */
export function altered(provisioner: SharedProvisioner, changes: Partial<SharedProvisioner>): SharedProvisioner {
  return { ...provisioner, ...changes };
}

export async function until(condition: () => boolean | Promise<boolean>, withinMs = 10_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
