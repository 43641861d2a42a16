import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { EditOperations } from "../../src/contract/operations.js";
import { bindTool } from "../../src/contract/tool.js";
import { editTool } from "../../src/tools/edit.js";
import { call, openMemory } from "./support.js";

const edits = [{ oldText: "mine", newText: "MINE" }];
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Operations of a memory environment in which another writer gets in between each read and write, as long as it has content. */
async function contested(first: string, ...others: (string | undefined)[]) {
  const environment = await openMemory({ files: { a: first } });
  const operations: EditOperations & { cwd: string } = {
    cwd: environment.cwd,
    stat: environment.stat,
    readdir: environment.readdir,
    async readFile(path, options) {
      const read = await environment.readFile(path, options);
      const next = others.shift();
      if (next === "") environment.disk.remove("a");
      else if (next !== undefined) environment.disk.put("a", next);
      return read;
    },
    writeFile: environment.writeFile,
  };
  return { tool: bindTool(editTool, operations), environment };
}

describe("edit while others write", () => {
  it("puts the edits on the newer content when they still fit", async () => {
    const { tool, environment } = await contested("mine\n", "theirs\nmine\n");
    const { text, details } = await call(tool, { path: "a", edits });
    expect(text).toBe(
      "Edited a: 1 replacement at line 2 (+1 -1).\n[Another writer had changed the file meanwhile: the edits were put on its new content.]",
    );
    expect(environment.snapshot()).toEqual({ a: "theirs\nMINE\n" });
    expect(details).toMatchObject({ beforeSha256: sha256("theirs\nmine\n"), afterSha256: sha256("theirs\nMINE\n") });
  });

  it("C18 reports what no longer fits, and leaves the other's content", async () => {
    const { tool, environment } = await contested("mine\n", "yours\n");
    const { text, isError, details } = await call(tool, { path: "a", edits });
    expect(text).toBe(
      "a was not changed: oldText was not found. No line is like its first one. Read the file and copy the text as it is.\nAnother writer changed the file while it was edited: read it again first.",
    );
    expect(isError).toBe(true);
    expect(details).toMatchObject({ error: { code: "conflict" } });
    expect(environment.snapshot()).toEqual({ a: "yours\n" });
  });

  it("C18 reports a file that is gone", async () => {
    const { tool } = await contested("mine\n", "");
    expect((await call(tool, { path: "a", edits })).details).toMatchObject({ error: { code: "not_found" } });
  });

  it("gives up after five rounds", async () => {
    const { tool, environment } = await contested("mine 0\n", ...Array.from({ length: 9 }, (_, index) => `mine ${index + 1}\n`));
    const { text, details } = await call(tool, { path: "a", edits });
    expect(text).toBe(
      "a was changed by others 5 times while it was edited, so it was not changed. Wait for them, read it again, and retry.",
    );
    expect(details).toMatchObject({
      error: { code: "conflict", retrySafe: true, details: { expectedSha256: expect.any(String), actualSha256: expect.any(String) } },
    });
    expect(environment.snapshot()).toEqual({ a: "mine 5\n" });
  });

  it("takes a hash that a caller or a hook sets for final", async () => {
    const { tool, environment } = await contested("mine\n");
    const { text, details } = await call(tool, { path: "a", edits }, { ifMatch: sha256("older\n") });
    expect(text).toBe("a is not what it was when it was last looked at, so it was not changed. Read it again.");
    expect(details).toMatchObject({
      error: { code: "conflict", details: { expectedSha256: sha256("older\n"), actualSha256: sha256("mine\n") } },
    });
    expect(environment.snapshot()).toEqual({ a: "mine\n" });

    const between = await contested("mine\n", "mine too\n");
    expect((await call(between.tool, { path: "a", edits }, { ifMatch: sha256("mine\n") })).details).toMatchObject({
      error: { code: "conflict" },
    });
    expect(between.environment.snapshot()).toEqual({ a: "mine too\n" });

    const agreed = await contested("mine\n");
    expect((await call(agreed.tool, { path: "a", edits }, { ifMatch: sha256("mine\n") })).isError).toBe(false);
  });

  it("J1 loses none of many edits at once, from two tool sets", async () => {
    const environment = await openMemory({ files: { a: "start\nend\n" } });
    const [one, other] = [bindTool(editTool, environment), bindTool(editTool, environment)];
    const results = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        call(index % 2 === 0 ? one : other, {
          path: index % 3 === 0 ? "./a" : "a",
          edits: [{ oldText: "end", newText: `token ${index};\nend` }],
        }),
      ),
    );
    expect(results.filter(({ isError }) => isError)).toEqual([]);
    const { data } = await environment.readFile("a");
    const tokens =
      Buffer.from(data)
        .toString()
        .match(/token \d+;/g) ?? [];
    expect(tokens.toSorted()).toEqual(Array.from({ length: 40 }, (_, index) => `token ${index};`).toSorted());
  });

  it("passes other errors of a write on", async () => {
    const { tool, environment } = await contested("mine\n");
    environment.failNext("writeFile", "no_space");
    expect((await call(tool, { path: "a", edits })).details).toMatchObject({ error: { code: "no_space" } });
  });
});
