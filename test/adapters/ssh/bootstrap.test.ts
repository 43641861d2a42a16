import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BOOTSTRAP, execLine, scriptLine } from "../../../adapters/ssh/bootstrap.js";
import { findProgram } from "../../support/packages.js";

/** What can stand behind /bin/sh on a host. */
const SHELLS = [["sh"], ["dash"], ["bash"], ["bash", "--posix"], ["busybox", "sh"]].filter(
  ([name = ""]) => findProgram(name) !== undefined,
);
/** What bootstrap has /bin/sh run, in each of these instead. */
const READS_A_LINE = /'(.*)'$/.exec(BOOTSTRAP)?.[1] ?? "";
const REST = "what comes behind the line\nbelongs to the program\\\n";

/** Starts a shell as the bootstrap does, gives it the line and something more, and returns what came out. */
function start([shell = "", ...options]: readonly string[], line: string): Buffer {
  const { stdout, stderr, status } = spawnSync(shell, [...options, "-c", READS_A_LINE], { input: `${line}\n${REST}` });
  expect([stderr.toString(), status]).toEqual(["", 0]);
  return stdout;
}

describe("the bootstrap", () => {
  it("means the same to every login shell: nothing in it is special to csh or fish", () => {
    expect(BOOTSTRAP).toBe(`exec /bin/sh -c 'IFS= read -r l && eval "$l"'`);
    expect(BOOTSTRAP).not.toMatch(/[\\!\n]/);
  });

  for (const shell of SHELLS) {
    it(`${shell.join(" ")}: arguments arrive as they were, and stdin goes on behind the line`, () => {
      const echo = 'for each; do printf "%s\\0" "$each"; done; cat';
      const arrives = (words: readonly string[]): void => {
        const output = start(shell, execLine(["sh", "-c", echo, "sh", ...words])).toString();
        expect(output).toBe(`${words.map((word) => `${word}\0`).join("")}${REST}`);
      };
      arrives([
        "",
        " ",
        "'",
        "''",
        '"',
        "\\",
        "\\n",
        "\n",
        "\n\n",
        "a\n",
        "\r",
        "\r\n",
        "!",
        "!!",
        "$x",
        "$(id)",
        "`id`",
        "*",
        "-n",
        "~",
        "#",
        "\t",
      ]);
      arrives([String.fromCodePoint(...Array.from({ length: 0x2ff }, (_, index) => index + 1))]);
      arrives(["\u0081\u0082\u0083\u0088\u0098 \u2028 \u{1f600} \ufeff"]);
      const word = fc.oneof(
        fc.string({ unit: "binary" }),
        fc.string({ unit: fc.constantFrom("'", '"', "\\", "\n", "\r", "$", "`", "!", "a", " ", "é") }),
      );
      const whole = word.map((each) => each.replaceAll("\0", "").toWellFormed());
      fc.assert(fc.property(fc.array(whole, { maxLength: 4 }), arrives), { numRuns: 40 });
    });

    it(`${shell.join(" ")}: a script runs without a trace of it in the arguments`, () => {
      const script = `printf '%s|' "it's" 'a\\\\b'\nprintf '%s\\n' "$#"\ncat`;
      expect(start(shell, scriptLine(script)).toString()).toBe(`it's|a\\\\b|0\n${REST}`);
    });
  }
});
