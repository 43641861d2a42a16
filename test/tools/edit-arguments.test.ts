import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bindTool } from "../../src/contract/tool.js";
import { editTool } from "../../src/tools/edit.js";
import { prepareEditArguments } from "../../src/tools/edit-arguments.js";

const edit = { oldText: "a", newText: "b" };
const folded = { path: "f", edits: [edit] };

describe("prepareEditArguments", () => {
  it.each([
    ["as it should be", folded],
    ["edits as a JSON string", { path: "f", edits: JSON.stringify([edit]) }],
    ["one edit as a JSON string", { path: "f", edits: JSON.stringify(edit) }],
    ["one edit without its array", { path: "f", edits: edit }],
    ["oldText and newText at the top", { path: "f", ...edit }],
    ["the same with no edits beside", { path: "f", ...edit, edits: [] }],
  ])("folds %s", (_, raw) => {
    expect(prepareEditArguments(raw)).toEqual(folded);
  });

  it("puts an edit at the top after those of the list", () => {
    expect(prepareEditArguments({ path: "f", edits: [{ oldText: "x", newText: "y" }], ...edit })).toEqual({
      path: "f",
      edits: [{ oldText: "x", newText: "y" }, edit],
    });
  });

  it.each([
    ["no JSON", { path: "f", edits: "[{oldText" }],
    ["a number as JSON", { path: "f", edits: "7" }],
    ["null", null],
    ["an array", [edit]],
    ["half an edit at the top", { path: "f", oldText: "a" }],
    ["an edit at the top beside rubbish", { path: "f", edits: 7, ...edit }],
    ["no edits", { path: "f", edits: [] }],
    ["an unknown key", { ...folded, file: "g" }],
  ])("leaves %s to be refused by schema", (_, raw) => {
    const tool = bindTool(editTool, { readFile: never, writeFile: never });
    expect(tool.validate(prepareEditArguments(raw)).ok).toBe(false);
  });

  it("never throws, and changes nothing that it is given (property)", () => {
    const value = fc.oneof(
      fc.jsonValue(),
      fc.record({ path: fc.string(), edits: fc.oneof(fc.json(), fc.jsonValue()), oldText: fc.jsonValue() }, { requiredKeys: [] }),
    );
    fc.assert(
      fc.property(value, (raw) => {
        const before = structuredClone(raw);
        prepareEditArguments(raw);
        expect(raw).toEqual(before);
      }),
      { numRuns: 1000 },
    );
  });

  it("J02 carries no prototype trick through", () => {
    const raw: unknown = JSON.parse('{"path":"f","oldText":"a","newText":"b","__proto__":{"polluted":true}}');
    const prepared = prepareEditArguments(raw);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect((prepared as Record<string, unknown>).polluted).toBeUndefined();
  });
});

function never(): never {
  throw new Error("not to be called");
}
