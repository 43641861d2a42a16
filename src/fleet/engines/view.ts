import type { Provisioned, ProvisionedVolume } from "../../contract/target.js";
import type { Member } from "./health.js";
import type { Places } from "./places.js";
import { isNote, newest, type Place, placeFrom, replacedOf, type Seals, userOf } from "./record.js";
import type { LostSandbox, OlderSandbox } from "./several.js";

type Labels = Readonly<Record<string, string>>;

/** What one engine has. */
interface Holding {
  readonly member: Member;
  readonly volumes: readonly ProvisionedVolume[];
  readonly sandboxes: readonly Provisioned[];
}

/** What all engines that live have, as if they were one: of two sandboxes of one name, one is shown. */
export interface View {
  /** With ids and engines of the whole. */
  readonly sandboxes: readonly Provisioned[];
  /** Without the notes of places, and without locks that lock nothing any more. */
  readonly volumes: readonly ProvisionedVolume[];
  readonly older: readonly OlderSandbox[];
  readonly lost: readonly LostSandbox[];
  /** Where each volume is. */
  readonly homes: ReadonlyMap<string, Member>;
  /** The place of each name that has one. */
  readonly places: ReadonlyMap<string, Place>;
  /** Places at engines that live, with nothing there. */
  readonly empty: readonly Place[];
  /** Witnesses that live and do not have the note that counts. */
  readonly missing: readonly { readonly place: Place; readonly witness: Member }[];
}

export interface ViewOptions {
  readonly members: readonly Member[];
  readonly places: Places;
  readonly seals: Seals;
  readonly labels: Labels;
  /** Volumes alone are half the work, and enough while no name is at two engines. */
  readonly withSandboxes: boolean;
}

/** The id by which the whole knows a sandbox of one engine. */
export function wholeId(engine: string, id: string): string {
  return `${engine}/${id}`;
}

/** Asks all engines that live at once; one that fails meanwhile is left out. Rejects when none answers. */
export async function lookAtAll({ members, places, seals, labels, withSandboxes }: ViewOptions): Promise<View> {
  const volumes = await askAll(members, (member) => member.read((engine) => engine.volumes(labels)));
  const notes = volumes.flatMap(({ member, found }) => found.flatMap((each) => noteOf(member, each, seals)));
  const byUser = new Map<string, Note[]>();
  for (const note of notes) byUser.set(note.place.user, [...(byUser.get(note.place.user) ?? []), note]);
  const isDisputed = [...byUser.values()].some((some) => newest(some.map(({ place }) => place)).length > 1);
  const sandboxes = withSandboxes || isDisputed ? await askAll(members, (member) => member.read((engine) => engine.list(labels))) : [];
  const holdings = volumes.flatMap(({ member, found }): Holding[] => {
    const other = sandboxes.find((one) => one.member === member);
    if (other === undefined && (withSandboxes || isDisputed)) return [];
    return [{ member, volumes: found, sandboxes: other?.found ?? [] }];
  });

  const living = new Map(holdings.map((holding) => [holding.member.name, holding]));
  const isOccupied = ({ user, engine }: Place): boolean => {
    return living.get(engine)?.sandboxes.some(({ name }) => name === user || name === replacedOf(user)) ?? false;
  };
  const chosen = new Map<string, Place>();
  for (const [user, some] of byUser) {
    const place = await places.judge(
      some.map((note) => note.place),
      async (one) => isOccupied(one),
    );
    if (place !== undefined) chosen.set(user, place);
  }
  const engineOf = whereIs(chosen, holdings);
  const isElsewhere = (name: string, { member }: Holding): boolean => {
    const user = userOf(name);
    return user !== undefined && (engineOf.get(user) ?? member.name) !== member.name;
  };
  const hidden = new Set(
    holdings.flatMap((holding) =>
      holding.sandboxes.filter(({ name }) => isElsewhere(name, holding)).map(({ labels: own }) => own["glovebox.fleet.volume"] ?? ""),
    ),
  );
  const all = [...chosen.values()];
  return {
    sandboxes: holdings.flatMap((holding) =>
      holding.sandboxes.filter(({ name }) => !isElsewhere(name, holding)).map((one) => ofWhole(holding.member, one)),
    ),
    volumes: holdings.flatMap((holding) =>
      holding.volumes.filter((one) => !isNote(one) && !hidden.has(one.name) && !(one.isLock && isElsewhere(one.name, holding))),
    ),
    older: holdings.flatMap((holding) =>
      holding.sandboxes
        .filter(({ name }) => isElsewhere(name, holding))
        .map((one) => ({ sandbox: ofWhole(holding.member, one), why: whyLeft(holding.member, one, engineOf) })),
    ),
    lost: all
      .filter(({ engine }) => !living.has(engine))
      .map(({ user, engine, placedMs }) => ({ name: user, engine, placedMs }))
      .sort((one, other) => (one.name < other.name ? -1 : 1)),
    homes: new Map(holdings.flatMap((holding) => holding.volumes.map(({ name }) => [name, holding.member] as const))),
    places: chosen,
    empty: withSandboxes ? all.filter((place) => living.has(place.engine) && !isOccupied(place)) : [],
    missing: all.flatMap((place) =>
      places
        .witnesses(place.user)
        .filter((witness) => living.has(witness.name) && !hasNote(byUser.get(place.user) ?? [], place, witness))
        .map((witness) => ({ place, witness })),
    ),
  };
}

export function ofWhole(member: Member, sandbox: Provisioned): Provisioned {
  return { ...sandbox, id: wholeId(member.name, sandbox.id), engine: member.name };
}

interface Note {
  readonly witness: Member;
  readonly place: Place;
}

function noteOf(witness: Member, volume: ProvisionedVolume, seals: Seals): readonly Note[] {
  const place = placeFrom(volume.labels, seals);
  return place === undefined ? [] : [{ witness, place }];
}

function hasNote(notes: readonly Note[], place: Place, witness: Member): boolean {
  return notes.some((note) => note.witness === witness && note.place.generation === place.generation);
}

/** Of one name at two engines without any note, the same one for all who look. */
function whereIs(chosen: ReadonlyMap<string, Place>, holdings: readonly Holding[]): ReadonlyMap<string, string> {
  const engineOf = new Map([...chosen].map(([user, { engine }]) => [user, engine]));
  for (const { member, sandboxes } of [...holdings].sort((one, other) => (one.member.name < other.member.name ? -1 : 1))) {
    for (const { name } of sandboxes) {
      const user = userOf(name);
      if (user !== undefined && !engineOf.has(user)) engineOf.set(user, member.name);
    }
  }
  return engineOf;
}

function whyLeft({ name: engine }: Member, { name }: Provisioned, engineOf: ReadonlyMap<string, string>): string {
  const other = engineOf.get(userOf(name) ?? "");
  return `the engine ${engine} has this older sandbox, and the engine ${other} its user's newer one; destroy the newer one to have this again, or remove this one at ${engine} by hand`;
}

async function askAll<Answer>(
  members: readonly Member[],
  ask: (member: Member) => Promise<Answer>,
): Promise<readonly { readonly member: Member; readonly found: Answer }[]> {
  const answers = await Promise.allSettled(members.map(async (member) => ({ member, found: await ask(member) })));
  const found = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
  const failed = answers.find((answer) => answer.status === "rejected");
  if (found.length === 0 && failed !== undefined) throw failed.reason;
  return found;
}
