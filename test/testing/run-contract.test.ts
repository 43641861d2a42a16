import assert from "node:assert/strict";
import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/memory/index.js";
import { openEnvironment } from "../../src/environment.js";
import { type ContractCase, runContract } from "../../src/testing/index.js";
import { memoryHost } from "../contract/memory-host.js";

const cases: readonly ContractCase[] = [
  {
    name: "holds",
    id: "X1",
    theme: "t",
    async run({ write, text, directory, names }) {
      expect(await names(".")).toEqual([]);
      await write("a.txt", "x");
      expect(await text("a.txt")).toBe("x");
      expect(directory).toMatch(/^\/workspace\/contract-[0-9a-f]{12}\/\d+$/);
    },
  },
  {
    name: "breaks",
    theme: "t",
    async run() {
      assert.fail("one is not two");
    },
  },
  {
    name: "hangs",
    theme: "t",
    run: () => new Promise(() => {}),
  },
  {
    name: "resolves where it should reject",
    theme: "t",
    async run({ environment, directory, rejects }) {
      await rejects(environment.readdir(directory), "not_found");
    },
  },
  {
    name: "rejects with another code",
    theme: "t",
    async run({ environment, path, rejects }) {
      await rejects(environment.readFile(path("missing")), "loop", "is_directory");
    },
  },
  { name: "does not apply", theme: "t", needs: ["exec", "smallDisk"], run: async () => {} },
];

describe("runContract", () => {
  it("says of each case how it went, and a broken one stops nothing", async () => {
    const target = memory();
    const results = await runContract({ open: () => openEnvironment(target), host: memoryHost, cases, caseTimeoutMs: 100 });
    expect(results.map(({ durationMs: _, error: __, ...rest }) => rest)).toEqual([
      { name: "holds", id: "X1", theme: "t", outcome: "passed" },
      { name: "breaks", theme: "t", outcome: "failed", reason: "one is not two" },
      { name: "hangs", theme: "t", outcome: "failed", reason: '"hangs" did not settle within 100 ms' },
      {
        name: "resolves where it should reject",
        theme: "t",
        outcome: "failed",
        reason: "expected a rejection with not_found, but it resolved",
      },
      {
        name: "rejects with another code",
        theme: "t",
        outcome: "failed",
        reason: expect.stringMatching(/^expected loop or is_directory, but got not_found: /),
      },
      { name: "does not apply", theme: "t", outcome: "skipped", reason: "needs exec" },
    ]);
  });

  it("leaves nothing behind and closes what a case reopened", async () => {
    const target = memory();
    let reopened: { readonly readFile: (path: string) => Promise<unknown> } | undefined;
    const results = await runContract({
      open: () => openEnvironment(target),
      host: memoryHost,
      cases: [
        {
          name: "reopens",
          theme: "t",
          async run({ reopen, write }) {
            await write("deep/a.txt", "x");
            reopened = await reopen();
          },
        },
      ],
    });
    expect(results).toMatchObject([{ outcome: "passed" }]);
    await expect(reopened?.readFile("x")).rejects.toMatchObject({ code: "gone" });
    await using environment = await openEnvironment(target);
    expect(environment.snapshot()).toEqual({});
  });
});
