import { describe, expect, it } from "vitest";
import { groupCalls } from "../../src/scheduler/groups.js";
import { noteTool } from "./fixtures.js";

/** Entries from words: `A` and `A!` are bound to A, the latter sequential; `-` is bound to nothing; `?` has no tool. */
const groups = (words: string, allOneByOne = false) => {
  const entries = words.split(" ").map((word) => ({
    word,
    tool:
      word === "?"
        ? undefined
        : noteTool(word, {
            ...(!word.startsWith("-") && { environmentId: word.charAt(0) }),
            ...(word.endsWith("!") && { executionMode: "sequential" as const }),
          }),
  }));
  return groupCalls(entries, allOneByOne).map(
    ({ oneByOne, entries: members }) => `${oneByOne ? "in turn" : "together"}: ${members.map(({ word }) => word).join(" ")}`,
  );
};

describe("groupCalls", () => {
  it.each([
    ["A B A - ?", ["together: A B A - ?"]],
    ["A A! B A -", ["in turn: A A! A", "together: B -"]],
    ["B A! A B!", ["in turn: B B!", "in turn: A! A"]],
    ["A B -! ?", ["in turn: A B -! ?"]],
    ["? A!", ["together: ?", "in turn: A!"]],
  ])("%s", (words, expected) => expect(groups(words)).toEqual(expected));

  it("puts all in turn by the global switch", () => expect(groups("A B -", true)).toEqual(["in turn: A B -"]));
});
