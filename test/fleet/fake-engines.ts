import { memory } from "../../adapters/memory/index.js";
import { GloveboxError } from "../../src/contract/errors.js";
import type { EngineCapacity, EngineProvisioner } from "../../src/contract/target.js";
import { type Engines, type EnginesOptions, engines, targetProvisioner } from "../../src/fleet/index.js";

/** An engine that several processes can reach, each by a wire of its own. */
export interface FakeEngine {
  readonly name: string;
  readonly provisioner: EngineProvisioner;
  /** As it answers to those who ask where to make one. */
  capacity: EngineCapacity;
  isDead: boolean;
}

export function fakeEngine(name: string, capacity: Partial<EngineCapacity> = {}): FakeEngine {
  return {
    name,
    provisioner: targetProvisioner({ target: () => memory() }),
    capacity: { hasImage: true, sandboxBytes: 100, ...capacity },
    isDead: false,
  };
}

export interface Wire {
  /** Engines that this process alone cannot reach. */
  readonly cut?: Set<string>;
  /** Before each call, and before its answer. */
  readonly pause?: (call: string) => Promise<void>;
}

/** What one process has of these engines. */
export function overWires(list: readonly FakeEngine[], { cut = new Set(), pause }: Wire = {}, options: EnginesOptions = {}): Engines {
  return engines(
    list.map((engine) => ({ name: engine.name, provisioner: overWire(engine, { cut, ...(pause === undefined ? {} : { pause }) }) })),
    options,
  );
}

function overWire(engine: FakeEngine, { cut = new Set(), pause = async () => undefined }: Wire): EngineProvisioner {
  const { provisioner: base, name } = engine;
  const check = (): void => {
    if (!engine.isDead && !cut.has(name)) return;
    throw new GloveboxError("disconnected", `No answer from ${name}.`, { retrySafe: true });
  };
  const call = async <Result>(what: string, act: () => Promise<Result>): Promise<Result> => {
    await pause(`${name} ${what}`);
    check();
    const result = await act();
    await pause(`${name} ${what} answered`);
    check();
    return result;
  };
  return {
    create: (request) => call("create", () => base.create(request)),
    list: (labels) => call("list", () => base.list(labels)),
    find: (text) => call("find", () => base.find(text)),
    start: (id) => call("start", () => base.start(id)),
    stop: (id) => call("stop", () => base.stop(id)),
    pause: (id) => call("pause", () => base.pause(id)),
    resume: (id) => call("resume", () => base.resume(id)),
    rename: (id, text) => call("rename", () => base.rename(id, text)),
    remove: (id) => call("remove", () => base.remove(id)),
    export: (id) => call("export", () => base.export(id)),
    target: (id) => base.target(id),
    volumes: (labels) => call("volumes", () => base.volumes(labels)),
    removeVolume: (text) => call("removeVolume", () => base.removeVolume(text)),
    lock: (text, labels) => call("lock", () => base.lock(text, labels)),
    unlock: (text) => call("unlock", () => base.unlock(text)),
    mark: (text, labels) => call("mark", () => base.mark(text, labels)),
    capacity: () => call("capacity", async () => engine.capacity),
    // Files are not what the tests of engines are about.
    copyVolume: ({ to, labels }) => call("copyVolume", async () => void (await base.mark(to, labels))),
    freeMemoryBytes: () => call("freeMemoryBytes", () => base.freeMemoryBytes()),
    close: () => base.close(),
  };
}
