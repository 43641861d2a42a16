import { GloveboxError } from "../../contract/errors.js";
import type { EngineProvisioner, Provisioned, Target, VolumeCopy } from "../../contract/target.js";
import { createChoice, noneAlive } from "./choice.js";
import { createMember, type Member } from "./health.js";
import { createEngineLocks } from "./locks.js";
import { createPlaces } from "./places.js";
import { preferred, type Seal, userOf } from "./record.js";
import type { FleetProvisioner, SeveralEngines } from "./several.js";
import { createSeveral } from "./state.js";
import { lookAtAll, ofWhole, type View } from "./view.js";
import { createEngineVolumes } from "./volumes.js";

export interface FleetEngine {
  /** Which engine it is, for as long as it has sandboxes: it is noted at the others, and all processes must call it the same. */
  readonly name: string;
  readonly provisioner: EngineProvisioner;
}

export interface EnginesOptions {
  /** A question that an engine does not answer by then marks it dead. Default 5,000. */
  readonly deadlineMs?: number;
  /** A clock that never goes back, in milliseconds. For tests. Default `performance.now`. */
  readonly now?: () => number;
}

/** What a fleet over several engines is made of. */
export interface Engines extends FleetProvisioner {
  readonly several: SeveralEngines;
}

const NAME = /^[^\p{Cc}]{1,200}$/u;

/**
 * Several engines as one: a sandbox is made where its image is and memory is left, and found again wherever it is. Closing it
 * closes them. Throws `invalid_argument` for names that are empty or given twice.
 */
export function engines(list: readonly FleetEngine[], options: EnginesOptions = {}): Engines {
  const { deadlineMs = 5_000, now = () => performance.now() } = options;
  checkNames(list);
  const changed = new Set<(member: Member) => void>();
  const onChange = (member: Member): void => {
    for (const listener of changed) listener(member);
  };
  const members = list.map(({ name, provisioner }) => createMember({ name, provisioner, deadlineMs, now, onChange }));
  const byName = new Map(members.map((member) => [member.name, member]));
  const living = (): readonly Member[] => members.filter((member) => member.isAlive());
  const seals = new Map<string, Seal>();
  const places = createPlaces(members, byName, seals);
  const choice = createChoice(members);
  const volumes = createEngineVolumes(living);
  let seen: View | undefined;

  function split(id: string): { readonly member: Member; readonly inner: string } {
    const at = id.lastIndexOf("/");
    const member = byName.get(id.slice(0, Math.max(0, at)));
    if (member !== undefined) return { member, inner: id.slice(at + 1) };
    throw new GloveboxError("gone", `There is no engine that has a sandbox ${id.slice(0, 80)}.`, { retrySafe: true });
  }

  async function change<Result>(id: string, act: (engine: EngineProvisioner, inner: string) => Promise<Result>): Promise<Result> {
    const { member, inner } = split(id);
    return await member.change((engine) => act(engine, inner));
  }

  async function findAt(member: Member, name: string): Promise<Provisioned | undefined> {
    const found = await member.read((engine) => engine.find(name));
    return found && ofWhole(member, found);
  }

  /** At any engine that lives, of two at the one that the name prefers; one that dies meanwhile is left out, too. */
  async function findAnywhere(name: string): Promise<Provisioned | undefined> {
    const asked = preferred(living(), name);
    const answers = await Promise.allSettled(asked.map((member) => findAt(member, name)));
    let failure: unknown;
    for (const [at, answer] of answers.entries()) {
      if (answer.status === "rejected" && asked[at]?.isAlive()) failure ??= answer.reason;
      if (answer.status === "fulfilled" && answer.value !== undefined) return answer.value;
    }
    if (failure !== undefined) throw failure;
    if (living().length === 0) throw noneAlive(members);
    return undefined;
  }

  /** For a name without a place: where it is all the same, else beside what is meant for it, else at the best engine. */
  async function propose(user: string, near: string | undefined): Promise<Member> {
    const found = await findAnywhere(user);
    const beside = found?.id ?? near;
    const member = beside === undefined ? undefined : beside.includes("/") ? split(beside).member : volumes.at(beside);
    return member?.isAlive() ? member : (await choice.rank(user))[0].member;
  }

  const locks = createEngineLocks({ byName, places, findAt, propose, onSettled: choice.settled });

  async function look(labels: Readonly<Record<string, string>>, withSandboxes: boolean): Promise<View> {
    if (living().length === 0) throw noneAlive(members);
    const view = await lookAtAll({ members: living(), places, seals, labels, withSandboxes });
    if (withSandboxes) seen = view;
    volumes.see(view.homes);
    return view;
  }

  return {
    several: createSeveral({ members, places, seals, locks, changed, split, choice, look, lastView: () => seen }),

    async create(request) {
      const { near, volume, name = near ?? "" } = request;
      const known = (volume === undefined ? undefined : volumes.at(volume)) ?? (near === undefined ? undefined : await locks.at(near));
      const tried = known === undefined ? (await choice.rank(name)).map(({ member }) => member) : [known];
      try {
        for (const [at, member] of tried.entries()) {
          if (volume !== undefined) volumes.make(volume, member);
          try {
            return ofWhole(member, await member.change((engine) => engine.create(request)));
          } catch (error) {
            // Elsewhere only when nothing of it can be there.
            if (at === tried.length - 1 || member.isAlive() || !(error instanceof GloveboxError) || !error.retrySafe) throw error;
          }
        }
        throw noneAlive(members);
      } finally {
        choice.settled(name);
      }
    },

    list: async (labels) => (await look(labels, true)).sandboxes,

    async find(name) {
      const member = userOf(name) === undefined ? undefined : await locks.at(name);
      if (member === undefined) return await findAnywhere(name);
      const found = await findAt(member, name);
      if (found === undefined) locks.noteAbsence(name, member);
      return found;
    },

    async rename(id, name) {
      const { member, inner } = split(id);
      await locks.checkName(name, member);
      await member.change((engine) => engine.rename(inner, name));
    },

    start: (id) => change(id, (engine, inner) => engine.start(inner)),
    stop: (id) => change(id, (engine, inner) => engine.stop(inner)),
    pause: (id) => change(id, (engine, inner) => engine.pause(inner)),
    resume: (id) => change(id, (engine, inner) => engine.resume(inner)),
    remove: (id) => change(id, (engine, inner) => engine.remove(inner)),
    export: (id) => change(id, (engine, inner) => engine.export(inner)),

    target(id): Target {
      const { member, inner } = split(id);
      return member.provisioner.target(inner);
    },

    volumes: async (labels) => (await look(labels, false)).volumes,

    removeVolume: volumes.remove,
    ...(list.every(({ provisioner }) => provisioner.copyVolume !== undefined) && {
      copyVolume: (copy: VolumeCopy) => volumes.copy(copy, (id) => split(id).inner),
    }),
    lock: locks.take,
    unlock: locks.release,
    freeMemoryBytes: async () => (await choice.rank())[0].freeBytes,

    async close() {
      await Promise.all(list.map(({ provisioner }) => provisioner.close()));
    },
  };
}

function checkNames(list: readonly FleetEngine[]): void {
  const names = list.map(({ name }) => name);
  if (names.length > 0 && names.every((name) => NAME.test(name)) && new Set(names).size === names.length) return;
  const message = `Engines need names of 1 to 200 characters, each another: not ${JSON.stringify(names).slice(0, 200)}.`;
  throw new GloveboxError("invalid_argument", message, { retrySafe: true });
}
