import { createHash } from "node:crypto";
import type { ProvisionedVolume } from "../../contract/target.js";

/** A note at an engine, which never changes, of where a user's sandbox is. */
export interface Place {
  /** The sandbox's name. */
  readonly user: string;
  readonly engine: string;
  /** Part of the note's name, which an engine gives out once: so of two who give a name a place, one is first. */
  readonly generation: number;
  /** When, in milliseconds since the epoch, and later than any place of this name that was known then. The newest counts. */
  readonly placedMs: number;
}

type Labels = Readonly<Record<string, string>>;

export const PLACE_LABEL = {
  user: "glovebox.fleet.place",
  engine: "glovebox.fleet.place-engine",
  generation: "glovebox.fleet.place-generation",
  placed: "glovebox.fleet.place-ms",
  seal: "glovebox.fleet.place-seal",
} as const;

/** Signs a text with a fleet's secret. */
export type Seal = (text: string) => string;

/** By the fleet's id. Notes of a fleet that is not among them are taken as they are. */
export type Seals = ReadonlyMap<string, Seal>;

const USER = /^(gbf-([a-z0-9]{1,20})-)[kr](-[0-9a-f]{12}-[0-9a-f]{32})(?:\.[a-z.]+)?$/;

/** The user's sandbox that a name is about: its own, that of one being replaced, or that of a lock's. */
export function userOf(name: string): string | undefined {
  const [, head, , tail] = USER.exec(name) ?? [];
  return head === undefined ? undefined : `${head}k${tail}`;
}

/** The name of a sandbox while a newer one takes its place at the same engine. */
export function replacedOf(user: string): string {
  return user.replace(USER, "$1r$3");
}

/** The labels that all of the fleet of that user's sandbox bear. */
export function fleetLabels(user: string): Labels {
  return { "glovebox.fleet.id": fleetOf(user) };
}

function fleetOf(user: string): string {
  return USER.exec(user)?.[2] ?? "";
}

export function noteName({ user, generation }: Place): string {
  return `${user}.at${generation}`;
}

export function noteLabels(place: Place, seals: Seals): Labels {
  const { user, engine, generation, placedMs } = place;
  return {
    [PLACE_LABEL.user]: user,
    [PLACE_LABEL.engine]: engine,
    [PLACE_LABEL.generation]: String(generation),
    [PLACE_LABEL.placed]: String(placedMs),
    [PLACE_LABEL.seal]: sealOf(place, seals),
  };
}

function sealOf({ user, engine, generation, placedMs }: Place, seals: Seals): string {
  const seal = seals.get(fleetOf(user));
  return seal === undefined ? "" : seal(JSON.stringify(["place", user, engine, generation, placedMs]));
}

/** What a note says; undefined for a volume that is none, or one without the fleet's seal. */
export function placeFrom(labels: Labels, seals: Seals): Place | undefined {
  const { [PLACE_LABEL.user]: user, [PLACE_LABEL.engine]: engine = "" } = labels;
  if (user === undefined || userOf(user) !== user) return undefined;
  const generation = Number(labels[PLACE_LABEL.generation]);
  const placedMs = Number(labels[PLACE_LABEL.placed]);
  const place = { user, engine, generation, placedMs };
  const isSealed = !seals.has(fleetOf(user)) || labels[PLACE_LABEL.seal] === sealOf(place, seals);
  return engine !== "" && generation > 0 && placedMs > 0 && isSealed ? place : undefined;
}

export function isNote({ labels }: ProvisionedVolume): boolean {
  return labels[PLACE_LABEL.user] !== undefined;
}

/** The engines in the order in which that name prefers them: the same in every process, and little changed by one more engine. */
export function preferred<Engine extends { readonly name: string }>(engines: readonly Engine[], user: string): readonly Engine[] {
  const weigh = (engine: string): string => createHash("sha256").update(`${engine}\n${user}`).digest("hex");
  return engines
    .map((engine) => ({ engine, weight: weigh(engine.name) }))
    .sort((one, other) => (one.weight < other.weight ? -1 : 1))
    .map(({ engine }) => engine);
}

/** The newest of each engine, the newest first. */
export function newest(places: readonly Place[]): readonly Place[] {
  const sorted = [...places].sort(
    (one, other) => other.placedMs - one.placedMs || other.generation - one.generation || (one.engine < other.engine ? -1 : 1),
  );
  return sorted.filter((place, at) => sorted.findIndex(({ engine }) => engine === place.engine) === at);
}
