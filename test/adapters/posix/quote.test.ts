import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { quote, quoteLine } from "../../../adapters/posix/quote.js";
import { shells } from "./shells.js";

/** Every character but NUL and halves of surrogate pairs, with a bias for those that shells care about. */
const word = fc.oneof(
  fc.stringMatching(/^[ -~\n\t]*$/),
  fc.string({ unit: "binary", maxLength: 40 }).map((text) => text.replaceAll("\0", "")),
  fc
    .array(
      fc.constantFrom(
        "'",
        '"',
        "\\",
        "$",
        "`",
        "\n",
        "!",
        "-",
        "*",
        "~",
        "#",
        ";",
        "&",
        "(",
        "a",
        " ",
        "\u00e9",
        "\u{1F600}",
        "''",
        "\\\n",
      ),
    )
    .map((parts) => parts.join("")),
);

describe.each(Object.entries(shells))("%s", (_name, shell) => {
  const [program = "", ...options] = shell;
  const echo = (script: string): readonly string[] =>
    execFileSync(program, [...options, "-c", script], { encoding: "utf8", env: { PATH: process.env.PATH, LC_ALL: "C.UTF-8" } })
      .split("\0")
      .slice(0, -1);

  it("takes a quoted word as it is", () => {
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 60 }), (words) => {
        expect(echo(`printf '%s\\0' ${words.map(quote).join(" ")}`)).toEqual(words);
      }),
      { numRuns: 8 },
    );
  });

  it("takes a word quoted for a line as it is, through read and eval", () => {
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 60 }), (words) => {
        const line = `printf '%s\\0' ${words.map(quoteLine).join(" ")}`;
        expect(line).not.toContain("\n");
        const read = execFileSync(program, [...options, "-c", `nl='\n'; IFS= read -r l; eval "$l"`], {
          encoding: "utf8",
          input: `${line}\n`,
          env: { PATH: process.env.PATH, LC_ALL: "C.UTF-8" },
        });
        expect(read.split("\0").slice(0, -1)).toEqual(words);
      }),
      { numRuns: 8 },
    );
  });
});

describe("quote", () => {
  it("refuses NUL, which no word can hold", () => {
    expect(() => quote("a\0b")).toThrow(expect.objectContaining({ code: "invalid_argument" }));
    expect(() => quoteLine("\0")).toThrow(expect.objectContaining({ code: "invalid_argument" }));
  });

  it("is plain to read", () => {
    expect(quote("it's")).toBe(`'it'\\''s'`);
    expect(quoteLine("a\nb")).toBe(`'a'"$nl"'b'`);
    expect(quote("")).toBe("''");
  });
});
