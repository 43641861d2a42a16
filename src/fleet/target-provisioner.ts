import { randomUUID } from "node:crypto";
import { GloveboxError } from "../contract/errors.js";
import type { EngineProvisioner, Provisioned, ProvisionedState, ProvisionedVolume, Target } from "../contract/target.js";
import { openEnvironment } from "../environment.js";
import { seed } from "./files/seed.js";

export interface TargetProvisionerOptions {
  /** Makes a target for the sandbox of that number: `() => memory()`, `(slot) => ssh({ …, cwd: "/srv/users/" + slot })`. */
  target(slot: number): Target;
}

interface Entry {
  readonly id: string;
  name: string;
  state: ProvisionedState;
  readonly labels: Readonly<Record<string, string>>;
  readonly createdMs: number;
  readonly target: Target;
  readonly volume: string | undefined;
}

/**
 * Sandboxes of targets that have no engine to make them: memory, accounts or directories of an SSH host. They are known to
 * this object only and end with the process; pause and stop change nothing but their state, and `remove` forgets a target
 * without deleting its files. A sandbox finds the files of its volume again, and a copy of one is made as by `seed`. Several fleets may share one, as processes share an engine.
 */
export function targetProvisioner({ target: makeTarget }: TargetProvisionerOptions): EngineProvisioner {
  const entries = new Map<string, Entry>();
  const volumes = new Map<string, ProvisionedVolume>();
  /** Where the files of a volume are. */
  const targets = new Map<string, Target>();
  let slot = 0;

  function entryOf(id: string): Entry {
    const entry = entries.get(id);
    if (entry !== undefined) return entry;
    throw new GloveboxError("gone", `There is no sandbox ${id.slice(0, 40)}.`, { retrySafe: true });
  }

  function checkFree(name: string): void {
    if ([...entries.values()].every((entry) => entry.name !== name)) return;
    throw new GloveboxError("exists", `There is a sandbox ${name} already.`, { retrySafe: true });
  }

  function nextTarget(volume: string | undefined): Target {
    slot += 1;
    const target = makeTarget(slot);
    if (volume !== undefined) targets.set(volume, target);
    return target;
  }

  async function copyFiles(from: Target, to: Target): Promise<void> {
    await using source = await openEnvironment(from);
    await using copy = await openEnvironment(to);
    const unbounded = Number.POSITIVE_INFINITY;
    await seed(copy, { environment: source }, { limits: { maxFiles: unbounded, maxBytes: unbounded, maxPathBytes: unbounded } });
  }

  const provisionedOf = ({ id, name, state, labels, createdMs }: Entry): Provisioned => ({
    id,
    name,
    state,
    labels,
    createdMs,
    maker: "self",
  });
  const bears = (own: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>>): boolean =>
    Object.entries(wanted).every(([name, value]) => own[name] === value);

  return {
    async create({ name = randomUUID(), labels = {}, volume }) {
      checkFree(name);
      if (volume !== undefined && !volumes.has(volume)) volumes.set(volume, { name: volume, labels, maker: "self", isLock: false });
      const target = (volume === undefined ? undefined : targets.get(volume)) ?? nextTarget(volume);
      const entry: Entry = { id: randomUUID(), name, state: "running", labels, createdMs: Date.now(), target, volume };
      entries.set(entry.id, entry);
      return provisionedOf(entry);
    },
    async list(labels) {
      return [...entries.values()].filter((entry) => bears(entry.labels, labels)).map(provisionedOf);
    },
    async find(name) {
      const entry = [...entries.values()].find((each) => each.name === name);
      return entry && provisionedOf(entry);
    },
    async start(id) {
      entryOf(id).state = "running";
    },
    async stop(id) {
      entryOf(id).state = "stopped";
    },
    async pause(id) {
      entryOf(id).state = "paused";
    },
    async resume(id) {
      entryOf(id).state = "running";
    },
    async rename(id, name) {
      const entry = entryOf(id);
      if (entry.name === name) return;
      checkFree(name);
      entry.name = name;
    },
    async remove(id) {
      entries.delete(id);
    },
    async export() {
      throw new GloveboxError("unsupported", "A target without an engine has no export. Read its files through an environment.");
    },
    target: (id) => entryOf(id).target,
    async volumes(labels) {
      return [...volumes.values()].filter((volume) => bears(volume.labels, labels));
    },
    async removeVolume(name) {
      if ([...entries.values()].some((entry) => entry.volume === name)) {
        throw new GloveboxError("busy", `The volume ${name} is in use. Remove its sandbox first.`, { retrySafe: true });
      }
      volumes.delete(name);
      targets.delete(name);
    },
    async copyVolume({ from, to, labels }) {
      if (volumes.has(to)) throw new GloveboxError("exists", `There is a volume ${to} already.`, { retrySafe: true });
      if (from !== undefined) {
        const source = targets.get(from);
        if (source === undefined) throw new GloveboxError("not_found", `There is no volume ${from} with files.`, { retrySafe: true });
        await copyFiles(source, nextTarget(to)).catch((error: unknown) => {
          targets.delete(to);
          throw error;
        });
      }
      volumes.set(to, { name: to, labels, maker: "self", isLock: false });
    },
    async lock(name, labels) {
      if (volumes.has(name)) return false;
      volumes.set(name, { name, labels, maker: "self", isLock: true });
      return true;
    },
    async unlock(name) {
      volumes.delete(name);
    },
    async mark(name, labels) {
      const found = volumes.get(name);
      if (found === undefined) volumes.set(name, { name, labels, maker: "self", isLock: false });
      return found?.labels ?? labels;
    },
    async capacity() {
      return { hasImage: true, sandboxBytes: 0 };
    },
    async freeMemoryBytes() {
      return undefined;
    },
    async close() {},
  };
}
