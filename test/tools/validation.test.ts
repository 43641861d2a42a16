import { describe, expect, it } from "vitest";
import { bindTool } from "../../src/contract/tool.js";
import { editTool } from "../../src/tools/edit.js";
import { readTool } from "../../src/tools/read.js";
import { writeTool } from "../../src/tools/write.js";

const never = (): never => {
  throw new Error("not to be called");
};
const read = bindTool(readTool, { readFile: never });

function issues(raw: unknown, tool: { validate(value: unknown): ReturnType<typeof read.validate> } = read) {
  const result = tool.validate(raw);
  return result.ok ? [] : result.issues.map(({ field, expected, received }) => `${field}: ${expected}, not ${received}`);
}

describe("arguments", () => {
  it("J01 names every field that is wrong, what was expected and what came", () => {
    expect(issues({})).toEqual(["path: a string, not nothing"]);
    expect(issues({ path: 7, offset: 0, limit: 1.5, depth: 1 }).toSorted()).toEqual([
      "depth: no such field, not 1",
      "limit: an integer >= 1, not 1.5",
      "offset: an integer >= 1, not 0",
      "path: a string, not 7",
    ]);
    for (const path of [null, true, ["a"], { a: 1 }]) expect(issues({ path })).toHaveLength(1);
  });

  it("J01 names the field of an edit", () => {
    const edit = bindTool(editTool, { readFile: never, writeFile: never });
    expect(issues({ path: "a", edits: [{ oldText: "x", newText: "y" }, { oldText: 1 }] }, edit).toSorted()).toEqual([
      "edits[1].newText: a string, not nothing",
      "edits[1].oldText: a string, not 1",
    ]);
    expect(issues({ path: "a", edits: [] }, edit)).toEqual(["edits: an array of 1 or more items, not an array of 0"]);
  });

  it("J01 coerces strings only where nothing is lost", () => {
    expect(read.validate({ path: "a", offset: "7" })).toEqual({ ok: true, value: { path: "a", offset: 7 } });
    for (const offset of ["7x", "", " 7", "0x7", "1e1", true, null]) expect(read.validate({ path: "a", offset }).ok).toBe(false);
  });

  it("J02 takes nothing from a prototype", () => {
    const write = bindTool(writeTool, { writeFile: never });
    expect(write.validate(JSON.parse('{"__proto__":{"path":"a","content":"b"}}')).ok).toBe(false);
    expect(write.validate(JSON.parse('{"path":"a","content":"b","__proto__":{"x":1}}')).ok).toBe(false);
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });
});
