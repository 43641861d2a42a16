import { describe, expect, it } from "vitest";
import { closestLine } from "../../src/text/closest-line.js";

const content = ["import a from 'a';", "", "function total(items) {", "  return items.length;", "}", ""].join("\n");

describe("closestLine", () => {
  it("is the line most like the first line that is not blank", () => {
    expect(closestLine(content, "\n  function totals(item) {\n    whatever")).toEqual({ line: 3, text: "function total(items) {" });
    expect(closestLine(content, "return items.size;")).toEqual({ line: 4, text: "return items.length;" });
  });

  it("is the first of equals, and the exact one before a near one", () => {
    expect(closestLine("abcdeg\nabcdef\nabcdef", "abcdef")).toEqual({ line: 2, text: "abcdef" });
  });

  it("is none when no line is near", () => {
    expect(closestLine(content, "SELECT * FROM users WHERE id = 1")).toBeUndefined();
    expect(closestLine("", "x")).toBeUndefined();
    expect(closestLine(content, " \n ")).toBeUndefined();
  });

  it("is cut at 200 characters, between code points", () => {
    const long = "😀".repeat(250);
    expect(closestLine(`${long}\n`, `${long}x`)?.text).toBe("😀".repeat(200));
  });
});
