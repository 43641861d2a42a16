import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type AttributeCopier, createAttributeCopier, overCp } from "../../../adapters/local/attributes.js";
import { describeTarget } from "../../support/describe-target.js";
import { afterwards, hasProgram, makeScene } from "./scene.js";

const copiers: readonly (readonly [string, () => AttributeCopier])[] = [
  ["what this machine has", () => createAttributeCopier("/nowhere")],
  ["cp", () => overCp("/bin/cp")],
];

describeTarget("local", "L07 copying attributes", () => {
  for (const [name, make] of copiers) {
    it.runIf(hasProgram("setfattr"))(`with ${name} gives one file those of another, one request after the other`, async () => {
      const { root } = makeScene();
      const copier = make();
      afterwards(copier.close);
      for (const round of ["one", "two"]) {
        const [from, to, bare] = [join(root, `from-${round}`), join(root, `to-${round}`), join(root, `bare-${round}`)];
        for (const path of [from, to, bare]) writeFileSync(path, "");
        execFileSync("setfattr", ["-n", "user.name", "-v", round, from]);
        execFileSync("setfattr", ["-n", "user.empty", from]);
        expect(await Promise.all([copier.copy(from, to), copier.copy(bare, join(root, `from-${round}`))])).toEqual([
          "kept",
          name === "cp" ? "kept" : "none",
        ]);
        const read = execFileSync("getfattr", ["-d", "--absolute-names", to]).toString();
        expect(read).toBe(`# file: ${to}\nuser.empty=""\nuser.name="${round}"\n\n`);
      }
    });
  }

  it("says so when a file is not there", async () => {
    const { root } = makeScene();
    const copier = createAttributeCopier("/nowhere");
    afterwards(copier.close);
    expect(await copier.copy(join(root, "no"), join(root, "no"))).toBe("lost");
  });

  it("a copier that was closed in the middle answers all the same", async () => {
    const { root } = makeScene();
    const copier = createAttributeCopier("/nowhere");
    const answer = copier.copy(join(root, "no"), join(root, "no"));
    copier.close();
    expect(await answer).toBe("lost");
  });
});
