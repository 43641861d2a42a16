import { GloveboxError } from "../../contract/errors.js";
import type { EngineCapacity } from "../../contract/target.js";
import type { Member } from "./health.js";

export interface Ranked {
  readonly member: Member;
  /** Memory left when all that is being made there is made; undefined where it cannot be told. */
  readonly freeBytes: number | undefined;
}

export interface Choice {
  /**
   * The living engines, the best for a new sandbox first: those that have its image, and then those with more memory left.
   * Not empty. With a name, the sandbox of that name counts as being made at the first until it is said to be settled.
   */
  rank(name?: string): Promise<readonly [Ranked, ...Ranked[]]>;
  settled(name: string): void;
}

export function createChoice(members: readonly Member[]): Choice {
  const planned = new Map<string, Member>();

  return {
    async rank(name) {
      const answers = await Promise.allSettled(
        members.map(async (member) => ({ member, capacity: await member.read((engine) => engine.capacity()) })),
      );
      const living = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
      const [first, ...rest] = living
        .map(({ member, capacity }) => ({ member, capacity, makes: [...planned.values()].filter((one) => one === member).length }))
        .map((one) => ({ ...one, freeBytes: freeAfter(one.capacity, one.makes) }))
        .sort(
          (one, other) =>
            Number(other.capacity.hasImage) - Number(one.capacity.hasImage) ||
            (other.freeBytes ?? 0) - (one.freeBytes ?? 0) ||
            one.makes - other.makes,
        );
      if (first === undefined) throw noneAlive(members);
      // At once, so that of many who ask together each counts the others.
      if (name !== undefined) planned.set(name, first.member);
      return [first, ...rest];
    },
    settled: (name) => void planned.delete(name),
  };
}

function freeAfter({ freeBytes, sandboxBytes }: EngineCapacity, makes: number): number | undefined {
  return freeBytes === undefined ? undefined : freeBytes - makes * sandboxBytes;
}

export function noneAlive(members: readonly Member[]): GloveboxError {
  const engines = members.map(({ name, death }) => `${name} (${death ?? "failed just now"})`).join(", ");
  return new GloveboxError("disconnected", `No engine of the fleet answers: ${engines}. Start one of them, then try again.`, {
    retrySafe: true,
  });
}
