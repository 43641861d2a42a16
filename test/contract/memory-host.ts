import type { MemoryExtras } from "../../adapters/memory/index.js";
import type { Environment } from "../../src/contract/target.js";
import type { ContractHost } from "../../src/testing/index.js";

/** Sets the scene on a memory target, through what its environments have beside the verbs. */
export function memoryHost(environment: Environment): ContractHost {
  const { disk } = environment as Environment & MemoryExtras;
  return {
    mkdir: async (path) => disk.put(path, { directory: true }),
    symlink: async (target, path) => disk.put(path, { symlink: target }),
    link: async (existing, path) => disk.link(existing, path),
    chmod: async (path, mode) => disk.chmod(path, mode),
    fifo: async (path) => disk.put(path, { special: "fifo" }),
    remove: async (path) => disk.remove(path),
    async smallDisk() {
      const { facts } = await environment.describe();
      disk.put("small/a", { directory: true });
      disk.put("small/filler", new Uint8Array(Number(facts.maxBytes) - Number(facts.bytes) - 1_000_000));
      return { directory: `${environment.cwd}/small/a`, release: async () => disk.remove("small") };
    },
  };
}
