import { describe, expect, it } from "vitest";
import type { ToolCall } from "../../src/contract/tool.js";
import { createScheduler } from "../../src/scheduler/index.js";
import { call, lines, noteTool } from "./fixtures.js";

const scheduler = createScheduler({ tools: ["read", "write", "edit", "bash", "grep"].map((name) => noteTool(name)) });
const answer = async (...calls: unknown[]) => lines(await scheduler.runBatch(calls as ToolCall[]));

describe("calls of tools that are not there", () => {
  it.each([
    ["reed", "read"],
    ["Read", "read"],
    ["functions.read", "read"],
    ["read_file", "read"],
    ["wirte", "write"],
    ["bsh", "bash"],
    ["mcp__box__grep", "grep"],
  ])("J06 %s is answered with %s and with what there is", async (name, near) => {
    expect(await answer(call("1", name))).toEqual([
      `1 not_found There is no tool named "${name}". Did you mean ${near}? The tools here are bash, edit, grep, read, write.`,
    ]);
  });

  it.each(["", "frobnicate", "constructor", "__proto__", "toString"])("J06 %j is answered with what there is", async (name) => {
    expect(await answer(call("1", name))).toEqual([
      `1 not_found There is no tool named ${JSON.stringify(name)}. The tools here are bash, edit, grep, read, write.`,
    ]);
  });

  it("is short about a long name", async () => {
    const [line] = await answer(call("1", "x".repeat(9_000_000)));
    expect(line).toBe(`1 not_found There is no tool named "${"x".repeat(100)}…". The tools here are bash, edit, grep, read, write.`);
  });

  it("says so where there are none", async () => {
    expect(lines(await createScheduler({ tools: [] }).runBatch([call("1", "read")]))).toEqual([
      '1 not_found There is no tool named "read". There are no tools here.',
    ]);
  });

  it("asks for the tools anew for every batch", async () => {
    let names = ["read"];
    const changing = createScheduler({ tools: () => names.map((name) => noteTool(name)) });
    expect(lines(await changing.runBatch([call("1", "read")]))).toEqual(["1 ok read"]);
    names = ["write"];
    expect(lines(await changing.runBatch([call("1", "read"), call("2", "write")]))).toEqual([
      '1 not_found There is no tool named "read". The tools here are write.',
      "2 ok write",
    ]);
  });
});

describe("calls that cannot be told apart or are none", () => {
  it("J06 refuses every call of an id that is used twice, and runs the others", async () => {
    const why = (name: string) =>
      `${name} did not run: several calls of this batch have the id "1", so their results could not be told apart. None of them ran. Call again with an id of its own for each.`;
    expect(await answer(call("1", "read"), call("2", "read"), call("1", "write"))).toEqual([
      `1 invalid_argument ${why("read")}`,
      "2 ok read",
      `1 invalid_argument ${why("write")}`,
    ]);
  });

  it("allows the same id in another batch", async () => {
    expect(await Promise.all([answer(call("1", "read")), answer(call("1", "read"))])).toEqual([["1 ok read"], ["1 ok read"]]);
  });

  it.each([null, undefined, 7, "read", [], {}, { id: 1, name: "read" }, { id: "1" }])("J06 answers %j, which is no call", async (given) => {
    expect(await answer(given, call("2", "read"))).toEqual([
      ' invalid_argument This is not a tool call: it needs an "id" and a "name", both of them strings, and "arguments".',
      "2 ok read",
    ]);
  });
});

describe("what the host got wrong", () => {
  it("two tools of one name", async () => {
    const tools = [noteTool("read"), noteTool("read")];
    const words = 'Two tools are named "read": a call could mean either. Leave one out.';
    expect(() => createScheduler({ tools })).toThrow(words);
    await expect(createScheduler({ tools: () => tools }).runBatch([])).rejects.toMatchObject({ code: "invalid_argument", message: words });
  });

  it("options out of range", () => {
    for (const concurrency of [0, -1, 1.5, Number.NaN])
      expect(() => createScheduler({ tools: [], concurrency })).toThrow(/concurrency must be/);
    for (const hookTimeoutMs of [0, -1, Number.NaN, 2 ** 31, Number.POSITIVE_INFINITY]) {
      expect(() => createScheduler({ tools: [], hookTimeoutMs })).toThrow(/hookTimeoutMs must be/);
    }
    expect(() => createScheduler({ tools: [], askTimeoutMs: 0 })).toThrow(/askTimeoutMs/);
    expect(() => createScheduler({ tools: [], abortGraceMs: 0 })).toThrow(/abortGraceMs/);
  });

  it("a batch that is no list", async () => {
    await expect(scheduler.runBatch(undefined as unknown as ToolCall[])).rejects.toMatchObject({ code: "invalid_argument" });
  });
});
