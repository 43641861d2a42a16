import { GloveboxError } from "../../contract/errors.js";
import { attempt } from "../ground.js";
import type { Member } from "./health.js";
import {
  fleetLabels,
  newest,
  noteLabels,
  noteName,
  PLACE_LABEL,
  type Place,
  placeFrom,
  preferred,
  replacedOf,
  type Seals,
} from "./record.js";

/** How many engines note where a sandbox is: as many less one may be dead at once, and it is still known to be lost. */
export const WITNESSES = 3;

/** What some engine knows of a name's place. */
interface Testimony {
  readonly witness: Member;
  readonly places: readonly Place[];
}

/** Where users' sandboxes are, as noted at the engines themselves. */
export interface Places {
  /** The engines that note this name's place. */
  witnesses(user: string): readonly Member[];
  /** Where it is. Undefined when it has no place. Rejects `disconnected` when none of its witnesses answers. */
  find(user: string): Promise<Place | undefined>;
  /**
   * Where it is, or else from now on is to be: of all who propose at once, one is heard. Sees to it that every witness that
   * lives has the note.
   */
  settle(user: string, propose: () => Promise<Member>): Promise<Place>;
  /** A newer place, whatever it has. Resolves to what somebody else gave it meanwhile, if that was first. */
  move(user: string, to: Member): Promise<Place>;
  /** Takes away all notes, at engines that live, that it is at that one. To be done by the holder of its lock there only. */
  erase(user: string, engine: string): Promise<void>;
  /** Notes the place there too. */
  note(place: Place, witness: Member): Promise<Place>;
  /** Of several places the one that counts: the newest, unless nothing is there and something is at an older one. */
  judge(places: readonly Place[], isOccupied: (place: Place) => Promise<boolean>): Promise<Place | undefined>;
}

export function createPlaces(members: readonly Member[], byName: ReadonlyMap<string, Member>, seals: Seals): Places {
  const witnesses = (user: string): readonly Member[] => preferred(members, user).slice(0, WITNESSES);

  async function ask(user: string): Promise<readonly Testimony[]> {
    const asked = witnesses(user);
    const answers = await Promise.allSettled(
      asked.map(async (witness) => {
        const volumes = await witness.read((engine) => engine.volumes({ ...fleetLabels(user), [PLACE_LABEL.user]: user }));
        return { witness, places: volumes.flatMap(({ labels }) => placeFrom(labels, seals) ?? []) };
      }),
    );
    const told = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
    if (told.length > 0) return told;
    const engines = asked.map(({ name }) => name);
    const message = `Whether ${user} exists cannot be told: ${engines.join(", ")} would know, and none of them answers. Start one of them, then try again.`;
    throw new GloveboxError("disconnected", message, { retrySafe: true, details: { engines } });
  }

  async function isOccupied({ user, engine }: Place): Promise<boolean> {
    const member = byName.get(engine);
    if (member === undefined || !member.isAlive()) return false;
    const found = await Promise.all([user, replacedOf(user)].map((name) => member.read((one) => one.find(name))));
    return found.some((sandbox) => sandbox !== undefined);
  }

  async function judge(places: readonly Place[], occupied: (place: Place) => Promise<boolean>): Promise<Place | undefined> {
    const [first, ...others] = newest(places);
    if (first === undefined || others.length === 0) return first;
    if (byName.get(first.engine)?.isAlive() !== true || (await occupied(first))) return first;
    for (const other of others) if (await occupied(other)) return other;
    return first;
  }

  async function note(place: Place, witness: Member): Promise<Place> {
    const labels = { ...fleetLabels(place.user), ...noteLabels(place, seals) };
    const noted = placeFrom(await witness.read((engine) => engine.mark(noteName(place), labels)), seals);
    if (noted !== undefined) return noted;
    const message = `At the engine ${witness.name} something that is not this fleet's is named ${noteName(place)}. Remove that volume.`;
    throw new GloveboxError("conflict", message, { retrySafe: true });
  }

  /**
   * Notes it at one witness after another, in the name's own order: the first that two who do so both reach decides between
   * them. Resolves to what is noted there.
   */
  async function inscribe(place: Place): Promise<Place> {
    const done: Member[] = [];
    let failure: unknown;
    for (const witness of witnesses(place.user)) {
      let noted: Place;
      try {
        noted = await note(place, witness);
      } catch (error) {
        failure = error;
        continue;
      }
      if (noted.engine !== place.engine) {
        await withdraw(place, done);
        return noted;
      }
      done.push(witness);
    }
    if (done.length === 0) throw failure;
    return place;
  }

  /** Under the lock there, so that nobody who relied on the note is deceived; where that is taken, both stay. */
  async function withdraw(place: Place, from: readonly Member[]): Promise<void> {
    const there = byName.get(place.engine);
    if (there === undefined || from.length === 0) return;
    const { user } = place;
    if (!(await there.change((engine) => engine.lock(user, fleetLabels(user))).catch(() => false))) return;
    for (const witness of from) await attempt(witness.change((engine) => engine.removeVolume(noteName(place))));
    await attempt(there.change((engine) => engine.unlock(user)));
  }

  return {
    witnesses,
    judge,
    note,
    async find(user) {
      return await judge(
        (await ask(user)).flatMap(({ places }) => places),
        isOccupied,
      );
    },
    async settle(user, propose) {
      const told = await ask(user);
      const place = await judge(
        told.flatMap(({ places }) => places),
        isOccupied,
      );
      if (place === undefined) {
        const { name: engine } = await propose();
        return await inscribe({ user, engine, generation: 1, placedMs: nowMs() });
      }
      const missing = told.filter(({ places }) => !places.some(({ generation }) => generation === place.generation));
      await Promise.all(missing.map(({ witness }) => attempt(note(place, witness))));
      return place;
    },
    async move(user, { name: engine }) {
      const known = (await ask(user)).flatMap(({ places }) => places);
      const generation = 1 + Math.max(0, ...known.map((place) => place.generation));
      return await inscribe({ user, engine, generation, placedMs: Math.max(nowMs(), ...known.map(({ placedMs }) => placedMs + 1)) });
    },
    async erase(user, at) {
      const labels = { ...fleetLabels(user), [PLACE_LABEL.user]: user, [PLACE_LABEL.engine]: at };
      const eraseFrom = async (member: Member): Promise<void> => {
        const notes = await member.read((engine) => engine.volumes(labels));
        await Promise.all(notes.map(({ name }) => member.read((engine) => engine.removeVolume(name))));
      };
      await Promise.all(members.map((member) => attempt(eraseFrom(member))));
    },
  };
}

/** Finer than a millisecond, so that two places of one name seldom are of one moment. */
function nowMs(): number {
  return performance.timeOrigin + performance.now();
}
