import { GloveboxError } from "../../contract/errors.js";
import type { VolumeCopy } from "../../contract/target.js";
import type { Member } from "./health.js";

/** Which engine has which volume, as far as this process has seen or made them: a volume's name is given once in the fleet. */
export interface EngineVolumes {
  at(name: string): Member | undefined;
  /** One that is about to be made there. */
  make(name: string, member: Member): void;
  /** All that there are, as of now. */
  see(homes: ReadonlyMap<string, Member>): void;
  remove(name: string): Promise<void>;
  /** At the engine of what is copied. `innerOf`: a sandbox's id as that engine knows it. */
  copy(copy: VolumeCopy, innerOf: (id: string) => string): Promise<void>;
}

/** The label of a snapshot's second volume that names its first. */
const VOLUME_LABEL = "glovebox.fleet.volume";

export function createEngineVolumes(living: () => readonly Member[]): EngineVolumes {
  const made = new Map<string, Member>();
  let seen: ReadonlyMap<string, Member> = new Map();
  const at = (name: string): Member | undefined => made.get(name) ?? seen.get(name);

  return {
    at,
    make: (name, member) => void made.set(name, member),
    see(homes) {
      seen = homes;
      for (const name of homes.keys()) made.delete(name);
    },
    async remove(name) {
      const known = at(name);
      const asked = known === undefined ? living() : [known];
      await Promise.all(asked.map((member) => member.change((engine) => engine.removeVolume(name))));
      made.delete(name);
    },
    async copy(copy, innerOf) {
      const source = copy.from ?? copy.labels[VOLUME_LABEL] ?? "";
      const member = at(source);
      if (member === undefined) {
        const message = `None of the fleet's engines that answer is known to have the volume ${source.slice(0, 80)}. Try again after the next look at them.`;
        throw new GloveboxError("not_found", message, { retrySafe: true });
      }
      made.set(copy.to, member);
      const { systemOf } = copy;
      const inner = { ...copy, ...(systemOf === undefined ? {} : { systemOf: innerOf(systemOf) }) };
      await member.change(async (engine) => await engine.copyVolume?.(inner));
    },
  };
}
