import { attempt } from "../ground.js";
import type { Choice } from "./choice.js";
import type { Member } from "./health.js";
import type { EngineLocks } from "./locks.js";
import type { Places } from "./places.js";
import type { Place, Seal } from "./record.js";
import type { SeveralEngines } from "./several.js";
import type { View } from "./view.js";

export interface SeveralOptions {
  readonly members: readonly Member[];
  readonly places: Places;
  readonly seals: Map<string, Seal>;
  readonly locks: EngineLocks;
  readonly changed: Set<(member: Member) => void>;
  split(id: string): { readonly member: Member };
  readonly choice: Choice;
  look(labels: Readonly<Record<string, string>>, withSandboxes: boolean): Promise<View>;
  lastView(): View | undefined;
}

/** What a fleet over several engines knows beside, and does for them. */
export function createSeveral({ members, places, seals, locks, changed, split, choice, look, lastView }: SeveralOptions): SeveralEngines {
  const isHeldAt = ({ user, engine }: Place): boolean => locks.held.get(user)?.name === engine;

  /** Removes the notes of a place with nothing at it, under its lock and after another look. */
  async function clear({ user, engine }: Place, labels: Readonly<Record<string, string>>): Promise<void> {
    if (locks.held.has(user) || locks.isTaking(user)) return;
    const member = members.find(({ name }) => name === engine);
    if (member?.isAlive() !== true || !(await locks.take(user, labels))) return;
    // Giving the lock back takes the notes of nothing along.
    await locks.release(user);
  }

  return {
    sealWith: (fleet, seal) => void seals.set(fleet, seal),

    health: () =>
      members.map(({ name, death }) => ({ engine: name, alive: death === undefined, ...(death === undefined ? {} : { message: death }) })),

    onHealth(listener) {
      const tell = ({ name, death }: Member): void => {
        if (death === undefined) listener("engine_restored", `The engine ${name} answers again.`);
        else listener("engine_lost", `The engine ${name} is marked dead: ${death}`);
      };
      changed.add(tell);
      return () => void changed.delete(tell);
    },

    reaches: (id) => split(id).member.isAlive(),

    fits(id, name) {
      const { member } = split(id);
      const held = locks.held.get(name);
      const place = lastView()?.places.get(name);
      const isLost = place !== undefined && members.find((one) => one.name === place.engine)?.isAlive() !== true;
      return member.isAlive() && (held === undefined ? !isLost : held === member);
    },

    lost: async (labels) => (await look(labels, false)).lost,

    older: () => lastView()?.older ?? [],

    async abandon(name) {
      const place = await places.find(name);
      if (place === undefined) return false;
      const member = members.find((one) => one.name === place.engine);
      if (member !== undefined && (member.isAlive() || (await member.probe()))) return false;
      await places.move(name, (await choice.rank())[0].member);
      locks.abandon(name);
      return true;
    },

    async tend(labels) {
      await locks.giveBackAbandoned();
      const view = lastView();
      if (view === undefined) return [];
      for (const { place, witness } of view.missing) if (isHeldAt(place)) await attempt(places.note(place, witness));
      for (const place of view.empty) await attempt(clear(place, labels));
      const moved = ({ user, engine }: Place): boolean => locks.held.has(user) && locks.held.get(user)?.name !== engine;
      return [...view.places.values()].filter(moved).map(({ user }) => user);
    },
  };
}
