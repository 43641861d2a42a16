import { describe, expect, it } from "vitest";
import { type MemoryExtras, memory } from "../../adapters/memory/index.js";
import type { Environment, Layer } from "../../src/contract/target.js";
import { openEnvironment } from "../../src/environment.js";
import { type AppendOperation, appendByMatch, checkAppends, faults, runAppends, seededRandom } from "../../src/testing/index.js";

/** Four files by twelve names; two of the files have names that look the same. */
const FILES = {
  "d/one": ["d/one", "./d/one", "d//one", "d/x/../one", "alias/one", "link-to-one"],
  "d/two": ["d/two", "d/./two", "alias/two"],
  "e\u0301": ["e\u0301", "./e\u0301"],
  "\u00e9": ["\u00e9"],
};

const scene = {
  ...Object.fromEntries(Object.keys(FILES).map((name) => [name, ""])),
  "d/x": { directory: true },
  alias: { symlink: "d" },
  "link-to-one": { symlink: "alias/one" },
} as const;

async function history(layers: readonly Layer[], seed: number, append = appendByMatch) {
  const target = memory({ files: scene });
  const environments = await Promise.all([1, 2].map(() => openEnvironment(target, { layers })));
  const [first] = environments as [Environment & MemoryExtras];
  const operations = await runAppends({
    files: FILES,
    clients: 8,
    operationsPerClient: 25,
    random: seededRandom(seed),
    append: (alias, token, client) => append(environments[client % 2] as Environment, alias, token),
  });
  const contents = Object.fromEntries(Object.keys(FILES).map((name) => [name, String(first.snapshot()[name])]));
  await Promise.all(environments.map((environment) => environment.close()));
  return { operations, contents };
}

/** Reads and writes as if nobody else did. */
async function appendBlindly(files: Pick<Environment, "readFile" | "writeFile">, path: string, token: string): Promise<void> {
  const { data } = await files.readFile(path);
  await files.writeFile(path, Buffer.concat([data, Buffer.from(`${token}\n`)]));
}

describe("J1 list append", () => {
  it("every acknowledged token is there exactly once", async () => {
    const { operations, contents } = await history([], 1);
    expect(operations.length).toBe(200);
    expect(operations.every(({ outcome }) => outcome === "acknowledged")).toBe(true);
    expect(checkAppends(operations, contents)).toEqual([]);
  });

  it("also when calls fail and answers are lost", async () => {
    const random = seededRandom(7);
    const chaos = faults(({ verb }) => {
      const chance = random();
      if (chance < 0.05) return { fail: "disconnected" };
      if (chance < 0.1 && verb === "writeFile") return { cut: "unknown_outcome" };
      return chance < 0.3 ? { delayMs: 1 } : undefined;
    });
    const { operations, contents } = await history([chaos], 2);
    expect(operations.filter(({ outcome }) => outcome === "unknown").length).toBeGreaterThan(5);
    expect(checkAppends(operations, contents)).toEqual([]);
  });

  it("the check finds the updates that a blind writer loses", async () => {
    const { operations, contents } = await history([], 3, appendBlindly);
    expect(checkAppends(operations, contents).some((line) => line.endsWith("was acknowledged and is lost"))).toBe(true);
  });

  it("the check names each kind of wrong", () => {
    const operation = (token: string, startedStep: number, endedStep: number): AppendOperation => ({
      client: 0,
      file: "f",
      alias: "f",
      token,
      startedStep,
      endedStep,
      outcome: "acknowledged",
    });
    const operations = [operation("a", 1, 2), operation("b", 3, 4), operation("c", 5, 6)];
    expect(checkAppends(operations, { f: "a\nb\nc\n" })).toEqual([]);
    expect(checkAppends(operations, { f: "b\na\nc\n" })).toEqual(["f: a had ended before b began, and stands behind it"]);
    expect(checkAppends(operations, { f: "a\nb\nb\nx\n" })).toEqual([
      "f: b is there twice",
      'f: "x" does not belong there',
      "f: c was acknowledged and is lost",
    ]);
    expect(checkAppends([{ ...operation("d", 1, 2), outcome: "unknown" }], { f: "" })).toEqual([]);
  });
});
