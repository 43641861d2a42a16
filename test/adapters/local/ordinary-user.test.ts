import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { describeTarget } from "../../support/describe-target.js";
import { makeScene, nodeArguments } from "./scene.js";

const NOBODY = 65534;

describeTarget("local", "the local adapter as an account that is not root", () => {
  it.runIf(process.getuid?.() === 0)("P30 P31 is bound by permissions, keeps owners or refuses, and leaves nothing", async () => {
    const { outside, root } = makeScene();
    chmodSync(outside, 0o755);
    chownSync(root, NOBODY, NOBODY);
    for (const [name, mode] of [
      ["sticky", 0o1777],
      ["open", 0o777],
    ] as const) {
      mkdirSync(join(root, name));
      writeFileSync(join(root, name, "theirs"), "old");
      chmodSync(join(root, name, "theirs"), 0o666);
      chmodSync(join(root, name), mode);
    }
    const [program = "", ...args] = await nodeArguments(
      new URL("./ordinary-user-program.ts", import.meta.url),
      root,
      "sticky/theirs",
      "open/theirs",
      "open/mine",
    );
    chmodSync(dirname(program), 0o755);
    const { stdout, stderr } = spawnSync(process.execPath, [program, ...args], { uid: NOBODY, gid: NOBODY, cwd: root, encoding: "utf8" });
    const result = JSON.parse(stdout || JSON.stringify(stderr));
    expect(result.uid).toBe(NOBODY);
    expect(result.cases.length).toBeGreaterThan(2);
    expect(result.cases.filter(({ outcome }: { outcome: string }) => outcome !== "passed")).toEqual([]);
    expect(result.codes).toEqual(["permission_denied", "permission_denied", "written"]);
    expect(result.warnings).not.toContain("Commands run as root.");
    for (const name of ["sticky", "open"]) expect(readFileSync(join(root, name, "theirs"), "utf8")).toBe("old");
    expect([readdirSync(join(root, "sticky")), readdirSync(join(root, "open")).sort()]).toEqual([["theirs"], ["mine", "theirs"]]);
  });
});
