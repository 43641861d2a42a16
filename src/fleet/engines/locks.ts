import { GloveboxError } from "../../contract/errors.js";
import type { Provisioned } from "../../contract/target.js";
import { attempt } from "../ground.js";
import type { Member } from "./health.js";
import type { Places } from "./places.js";
import { type Place, replacedOf, userOf } from "./record.js";

type Labels = Readonly<Record<string, string>>;

export interface EngineLocksOptions {
  readonly byName: ReadonlyMap<string, Member>;
  readonly places: Places;
  findAt(member: Member, name: string): Promise<Provisioned | undefined>;
  /** Where a name without a place is to be. */
  propose(user: string, near: string | undefined): Promise<Member>;
  /** What was proposed for it is settled, one way or another. */
  onSettled(user: string): void;
}

/**
 * Users' locks, each at the engine that has the sandbox, or is to have it. Whoever takes one makes sure of the place before
 * and after; notes of a place are taken away under its lock only, and nothing is given a user's name without it. So of all
 * who agree on the place one acts, and no two disagree who can both reach one of its witnesses.
 */
export interface EngineLocks {
  take(name: string, labels: Labels, near?: string): Promise<boolean>;
  release(name: string): Promise<void>;
  /** Where this user's sandbox is or is to be. Rejects `disconnected` where that engine is dead. Undefined without a place. */
  at(name: string): Promise<Member | undefined>;
  /** Rejects `exists` when a user's name may not be given to a sandbox there. */
  checkName(name: string, member: Member): Promise<void>;
  /** Nothing of that name is there. */
  noteAbsence(name: string, member: Member): void;
  /** Lets go of a lock that cannot be given back yet. */
  abandon(user: string): void;
  /** Gives those back whose engines live again. */
  giveBackAbandoned(): Promise<void>;
  /** The users whose locks this process holds, and where. */
  readonly held: ReadonlyMap<string, Member>;
  /** Whether it is taking the lock just now. */
  isTaking(user: string): boolean;
}

const MAX_TRIES = 5;

export function createEngineLocks({ byName, places, findAt, propose, onSettled }: EngineLocksOptions): EngineLocks {
  const held = new Map<string, Member>();
  const taking = new Map<string, Promise<boolean>>();
  /** Held, and known to have nothing at the engine. */
  const fresh = new Set<string>();
  const abandoned = new Set<{ readonly user: string; readonly member: Member }>();
  /** Wishes and the like. */
  const others = new Map<string, Member>();

  function living({ user, engine }: Pick<Place, "user" | "engine">): Member {
    const member = byName.get(engine);
    if (member?.isAlive()) return member;
    const why = member === undefined ? "is none of the fleet's engines" : `does not answer (${member.death})`;
    const message = `The sandbox ${user} is at the engine ${engine}, which ${why}. It is there again when the engine is: wait for that, or acquire it with recreateLost to have a new one, empty, elsewhere.`;
    throw new GloveboxError("disconnected", message, { retrySafe: true, details: { engine, option: "recreateLost" } });
  }

  async function at(name: string): Promise<Member | undefined> {
    const user = userOf(name) ?? name;
    const here = held.get(user);
    if (here !== undefined) return living({ user, engine: here.name });
    const place = await places.find(user);
    return place && living(place);
  }

  async function takeUser(user: string, labels: Labels, near: string | undefined): Promise<boolean> {
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      const member = living(await places.settle(user, () => propose(user, near)));
      if (!(await member.change((engine) => engine.lock(user, labels)))) return false;
      try {
        // Whoever had the lock before may have taken the place's notes away with the sandbox.
        const place = await places.settle(user, async () => member);
        if (place.engine === member.name) {
          held.set(user, member);
          return true;
        }
      } catch (error) {
        await attempt(member.change((engine) => engine.unlock(user)));
        throw error;
      }
      await attempt(member.change((engine) => engine.unlock(user)));
    }
    return false;
  }

  async function isEmptyAt(member: Member, user: string): Promise<boolean> {
    if (fresh.has(user)) return true;
    const found = await Promise.all([user, replacedOf(user)].map((name) => findAt(member, name)));
    return found.every((one) => one === undefined);
  }

  function abandon(user: string): void {
    const member = held.get(user);
    held.delete(user);
    fresh.delete(user);
    onSettled(user);
    if (member !== undefined) abandoned.add({ user, member });
  }

  return {
    held,
    at,
    abandon,
    async giveBackAbandoned() {
      for (const lock of abandoned) {
        const { user, member } = lock;
        if (!member.isAlive() || held.get(user) === member || taking.has(user)) continue;
        if (await attempt(member.change((engine) => engine.unlock(user)))) abandoned.delete(lock);
      }
    },
    isTaking: (user) => taking.has(user),

    async take(name, labels, near) {
      const user = userOf(name);
      if (user === name) {
        if (held.has(user) || taking.has(user)) return false;
        const attempted = takeUser(user, labels, near);
        taking.set(user, attempted);
        try {
          return await attempted;
        } finally {
          taking.delete(user);
          if (!held.has(user)) onSettled(user);
        }
      }
      const [first] = [...byName.values()].filter((one) => one.isAlive());
      const member = (user === undefined ? undefined : await at(user)) ?? first;
      if (member === undefined || !(await member.change((engine) => engine.lock(name, labels)))) return false;
      others.set(name, member);
      return true;
    },

    async release(name) {
      const member = held.get(name) ?? others.get(name);
      if (member === undefined) return;
      others.delete(name);
      if (!held.has(name)) return await member.change((engine) => engine.unlock(name));
      const isAlive = member.isAlive();
      if (fresh.has(name) || (isAlive && (await isEmptyAt(member, name).catch(() => false)))) await places.erase(name, member.name);
      if (!isAlive) return abandon(name);
      held.delete(name);
      fresh.delete(name);
      onSettled(name);
      await member.change((engine) => engine.unlock(name));
    },

    async checkName(name, member) {
      const user = userOf(name);
      if (user === undefined) return;
      await taking.get(user)?.catch(() => false);
      if (held.get(user) === member) {
        fresh.delete(user);
        onSettled(user);
        return;
      }
      const message = `The engine ${member.name} is not the place of ${user}, or another process holds its lock.`;
      throw new GloveboxError("exists", message, { retrySafe: true, details: { engine: member.name } });
    },

    noteAbsence(name, member) {
      if (held.get(name) === member) fresh.add(name);
    },
  };
}
