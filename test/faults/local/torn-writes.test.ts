import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeScene, nodeArguments, open, start } from "../../adapters/local/scene.js";
import { describeTarget } from "../../support/describe-target.js";
import { seededRandom, trials } from "./trials.js";
import { versionIn, versionOf } from "./versions.js";

const program = new URL("./writer-program.ts", import.meta.url);
const SIZES = [8, 4_095, 4_096, 1024 * 1024, 8 * 1024 * 1024];

interface Trial {
  readonly torn: boolean;
  /** An acknowledged write that is not there. */
  readonly lost: boolean;
}

/** Kills a writer with SIGKILL at a random moment of its work. */
async function killWriter(root: string, file: string, bytes: number, how: "ours" | "naive", random: () => number): Promise<Trial> {
  writeFileSync(join(root, file), versionOf(0, bytes));
  const child = start(process.execPath, await nodeArguments(program, root, file, String(bytes), how));
  await child.said("\n1\n");
  await new Promise((resolve) => setTimeout(resolve, random() * 40));
  child.process.kill("SIGKILL");
  const { stdout } = await child.done;
  const acknowledged = Number(stdout.trim().split("\n").at(-1));
  const found = versionIn(readFileSync(join(root, file)), bytes);
  return { torn: found === undefined, lost: found !== undefined && found !== acknowledged && found !== acknowledged + 1 };
}

describeTarget("local", "R01 SIGKILL of a writer", () => {
  it(`P1 P2 P14 leaves no torn file, loses nothing acknowledged, and nothing is left after the next start (${trials} times)`, {
    timeout: 60_000 + trials * 8_000,
  }, async () => {
    const { root } = makeScene();
    const { seed, next } = seededRandom();
    for (let trial = 0; trial < trials; trial += 1) {
      const bytes = SIZES[trial % SIZES.length] ?? 0;
      expect(await killWriter(root, `f-${bytes}`, bytes, "ours", next), `trial ${trial}, ${bytes} bytes, FAULTS_SEED=${seed}`).toEqual({
        torn: false,
        lost: false,
      });
    }
    const environment = await open(root);
    expect(readdirSync(root).filter((name) => !name.startsWith("f-"))).toEqual([]);
    for (const bytes of SIZES.slice(0, trials)) await environment.writeFile(`f-${bytes}`, versionOf(7, bytes));
  });

  it("would be noticed: a writer in place leaves more than one file in five torn", { timeout: 60_000 + trials * 8_000 }, async () => {
    const { root } = makeScene();
    const { next } = seededRandom();
    const naive = Math.min(trials, 20);
    let torn = 0;
    for (let trial = 0; trial < naive; trial += 1) {
      if ((await killWriter(root, "f", 8 * 1024 * 1024, "naive", next)).torn) torn += 1;
    }
    expect(torn / naive).toBeGreaterThan(0.2);
  });
});
