import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeScene, nodeArguments, open, start } from "../../adapters/local/scene.js";
import { describeTarget } from "../../support/describe-target.js";
import { trials } from "./trials.js";

/** Four files, two of which have names that look alike and are not the same. */
const FILES = ["a.txt", "b.txt", "\u00e9.txt", "e\u0301.txt"];
const WRITERS = 4;

function aliasesOf(root: string, file: string): readonly string[] {
  return [
    file,
    `./${file}`,
    `.//${file}`,
    `sub/../${file}`,
    join(root, file),
    `here/${file}`,
    `link-${file}`,
    `second-link-${file}`,
    `absolute-${file}`,
    `sub/up/${file}`,
    `./sub/./up/here/${file}`,
  ];
}

describeTarget("local", "J1 two processes on one directory", () => {
  const edits = Math.ceil((trials * 50) / 30);

  it(`8 writers, ${2 * WRITERS * edits} edits of 4 files by 11 names each: every acknowledged token is there once`, {
    timeout: 120_000 + edits * 4_000,
  }, async () => {
    const { root } = makeScene();
    mkdirSync(join(root, "sub"));
    symlinkSync(".", join(root, "here"));
    symlinkSync("..", join(root, "sub/up"));
    for (const file of FILES) {
      writeFileSync(join(root, file), "END\n");
      symlinkSync(file, join(root, `link-${file}`));
      symlinkSync(`link-${file}`, join(root, `second-link-${file}`));
      symlinkSync(join(root, file), join(root, `absolute-${file}`));
    }
    const aliases = JSON.stringify(FILES.map((file) => aliasesOf(root, file)));
    const program = new URL("./edit-program.ts", import.meta.url);
    const children = await Promise.all(
      ["p", "q"].map(async (who) =>
        start(process.execPath, await nodeArguments(program, root, who, String(WRITERS), String(edits), aliases)),
      ),
    );
    const outputs = await Promise.all(children.map(({ done }) => done));
    const acknowledged = outputs.flatMap(({ stdout, stderr }) => {
      if (stdout === "") throw new Error(stderr);
      return JSON.parse(stdout) as (readonly [number, string])[];
    });
    expect(acknowledged).toHaveLength(2 * WRITERS * edits);
    for (const [index, file] of FILES.entries()) {
      const content = readFileSync(join(root, file), "utf8");
      const expected = acknowledged.filter(([of]) => of === index).map(([, token]) => token);
      const found = content.split("\n").slice(0, -2);
      expect([...found].sort(), file).toEqual([...expected].sort());
      expect(content.endsWith("END\n")).toBe(true);
      // One writer's edits do not overlap in time, so they are in order.
      const writers = new Set(found.map((token) => token.slice(0, 3)));
      for (const writer of writers) {
        const own = found.filter((token) => token.startsWith(writer));
        expect(own, writer).toEqual([...own].sort());
      }
    }
    await open(root);
    expect(readdirSync(root).filter((name) => name.startsWith(".glovebox"))).toEqual([]);
  });

  it("would be noticed: read, change and write without looking loses edits", async () => {
    const { root } = makeScene();
    writeFileSync(join(root, "a.txt"), "");
    const environment = await open(root);
    const append = async (token: string): Promise<void> => {
      const before = Buffer.from((await environment.readFile("a.txt")).data).toString();
      await environment.writeFile("a.txt", Buffer.from(`${before}${token}\n`));
    };
    const tokens = Array.from({ length: 40 }, (_, index) => `token-${index}`);
    await Promise.all(tokens.map(append));
    expect(readFileSync(join(root, "a.txt"), "utf8").split("\n").length - 1).toBeLessThan(tokens.length);
  });
});
