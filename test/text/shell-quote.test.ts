import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { quoteShellPath, quoteShellWord } from "../../src/text/shell-quote.js";

describe("quoteShellWord", () => {
  it("P09 P10 is one word to a real shell, whatever it holds", () => {
    const words = fc.sample(fc.string({ unit: fc.constantFrom("a", " ", "'", '"', "\\", "$", "`", "\n", "*", "!", "~", "é", ";", "-") }), {
      numRuns: 200,
      seed: 1,
    });
    words.push("$(id)", "`id`", "$" + "{HOME}", "~root/x", "!!", "it's", "a\\b", "\\", "-rf");
    const script = words.map((word) => `printf '%s\\0' ${quoteShellWord(word)}`).join("\n");
    const printed = execFileSync("sh", ["-s"], { input: script, encoding: "utf8" }).split("\0").slice(0, -1);
    expect(printed).toEqual(words);
  });

  it("P08 keeps a path from being an option", () => {
    expect(quoteShellPath("-n")).toBe("./-n");
    expect(quoteShellPath("a b")).toBe("'a b'");
    expect(quoteShellPath("src/a.ts")).toBe("src/a.ts");
  });
});
