import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, readSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { bytes, type Child, hasProgram, makeScene, nodeArguments, open, start, text } from "../../adapters/local/scene.js";
import { describeTarget } from "../../support/describe-target.js";
import { trials } from "./trials.js";

/** Rounds of four verbs: 5,000 tries in CI. */
const rounds = Math.ceil((trials * 5_000) / 30 / 4);

/** An attacker that exchanges `root/d`, a directory, with `root/l`, a symlink to a directory outside, all the time. */
async function attack(root: string, outside: string): Promise<Child> {
  mkdirSync(join(root, "d"));
  mkdirSync(join(outside, "target"));
  symlinkSync(join(outside, "target"), join(root, "l"));
  writeFileSync(join(root, "d/f"), "inside");
  writeFileSync(join(outside, "target/f"), "secret, and longer");
  writeFileSync(join(outside, "target/outside-only"), "");
  const attacker = hasProgram("cc")
    ? start(compile(outside), [root, "d", "l"])
    : start(process.execPath, await nodeArguments(new URL("./swap-program.ts", import.meta.url), root));
  await attacker.said("swapping");
  return attacker;
}

function compile(directory: string): string {
  const program = join(directory, "swap");
  execFileSync("cc", ["-O2", "-o", program, fileURLToPath(new URL("./swap.c", import.meta.url))]);
  return program;
}

describeTarget("local", "R29 L02 a symlink-swapping attacker", () => {
  it(`gains nothing from ${rounds} reads, writes, stats and listings each`, { timeout: 120_000 + rounds * 100 }, async () => {
    const { outside, root } = makeScene();
    const environment = await open(root, { durable: false });
    const attacker = await attack(root, outside);
    const refused = new Map<string, number>();
    const served: Record<string, number> = { read: 0, write: 0, stat: 0, list: 0 };
    const attempt = async (verb: string, call: () => Promise<void>): Promise<void> => {
      try {
        await call();
        served[verb] = (served[verb] ?? 0) + 1;
      } catch (error) {
        const { code } = error as { readonly code?: string };
        if (code === undefined) throw error;
        refused.set(code, (refused.get(code) ?? 0) + 1);
      }
    };
    const secret = readFileSync(join(outside, "target/f"), "utf8");
    for (let round = 0; round < rounds; round += 1) {
      await attempt("read", async () => expect(text((await environment.readFile("d/f")).data)).not.toBe(secret));
      await attempt("stat", async () => expect((await environment.stat("d/f")).size).not.toBe(secret.length));
      await attempt("list", async () => expect((await environment.readdir("d")).map(({ name }) => name)).not.toContain("outside-only"));
      await attempt("write", async () => void (await environment.writeFile("d/f", bytes(`inside ${round}`))));
      if (round % 500 === 0) await attempt("write", async () => void (await environment.writeFile(`d/new-${round}/f`, bytes("x"))));
    }
    attacker.process.kill("SIGKILL");
    expect(readFileSync(join(outside, "target/f"), "utf8")).toBe(secret);
    expect(execFileSync("ls", ["-A", join(outside, "target")]).toString()).toBe("f\noutside-only\n");
    // What is refused is refused for what was seen, not by a crash; and the attack did not shut the verbs out.
    expect(
      [...refused.keys()].filter((code) => !["outside_root", "not_found", "not_directory", "busy", "exists", "loop"].includes(code)),
    ).toEqual([]);
    for (const verb of ["read", "write", "stat", "list"]) expect(served[verb], verb).toBeGreaterThan(rounds / 100);
  });

  it("would be noticed: checking a path and then opening it leads out", { timeout: 120_000 }, async () => {
    const { outside, root } = makeScene();
    const attacker = await attack(root, outside);
    let escapes = 0;
    const path = join(root, "d/f");
    for (let round = 0; round < 200_000 && escapes === 0; round += 1) {
      try {
        if (!realpathSync(path).startsWith(`${root}/`)) continue;
        const fd = openSync(path, "r");
        const buffer = Buffer.alloc(6);
        readSync(fd, buffer);
        closeSync(fd);
        if (buffer.toString() === "secret") escapes += 1;
      } catch {
        // In between.
      }
    }
    attacker.process.kill("SIGKILL");
    expect(escapes).toBeGreaterThan(0);
  });
});
