import fc from "fast-check";
import picomatch from "picomatch";
import { describe, expect, it } from "vitest";
import { parseGitignore } from "../../../src/layers/search/gitignore.js";
import { compileGlob } from "../../../src/layers/search/glob.js";

const matches = (glob: string, path: string): boolean =>
  compileGlob(glob)({ path: path.replace(/\/$/, ""), kind: path.endsWith("/") ? "directory" : "file" });

describe("compileGlob", () => {
  const rows: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ["*.ts", ["a.ts", "pkg/src/a.ts", ".ts", "dir.ts/"], ["a.tsx", "a.ts/b"]],
    ["src/*.ts", ["src/a.ts", "src/.ts"], ["pkg/src/a.ts", "src/b/a.ts"]],
    ["./*.ts", ["a.ts"], ["src/a.ts"]],
    ["/a", ["a"], ["b/a"]],
    ["src/**/*.ts", ["src/a.ts", "src/b/c/a.ts"], ["a.ts", "src/b"]],
    ["**/a", ["a", "b/a", "b/c/a"], ["a/b"]],
    ["src/**", ["src/a", "src/a/b"], ["src/", "src"]],
    ["**", ["a", "a/b", ".x"], []],
    ["a**b", ["ab", "axxb", "dir/a-b"], ["a/b"]],
    ["src/", ["src/", "a/src/"], ["src"]],
    ["a?c", ["abc", "a😀c"], ["ac", "abbc"]],
    ["[a-c]x[!0-9]", ["axa", "cx-"], ["dxa", "ax1"]],
    ["[]-]", ["]", "-"], ["a"]],
    ["[[:digit:]_]", ["5", "_"], ["a", ":"]],
    ["[a\\]b]", ["]", "a"], ["\\"]],
    ["{a,b/c}.{ts,js}", ["a.ts", "b/c.js"], ["c.ts", "b/c"]],
    ["{a,{b,c}d}", ["a", "bd", "cd"], ["b", "{a"]],
    ["x{1..3}", ["x{1..3}"], ["x1"]],
    ["{a", ["{a"], ["a"]],
    ["[a", ["[a"], ["a"]],
    ["\\*\\{a,b\\}", ["*{a,b}"], ["xa"]],
    ["P11 (a|b)+@!^$.#", ["P11 (a|b)+@!^$.#"], ["P11 a"]],
    ["P18 __proto__", ["P18 __proto__"], []],
    ["P06 a\n*", ["P06 a\nb"], ["P06 a"]],
  ];
  it.each(rows)("%s", (glob, yes, no) => {
    expect(yes.filter((path) => !matches(glob, path))).toEqual([]);
    expect(no.filter((path) => matches(glob, path))).toEqual([]);
  });

  it("agrees with picomatch on any plain glob and path", () => {
    const part = fc.oneof({ weight: 5, arbitrary: fc.stringMatching(/^[ab*?.]{1,5}$/) }, { weight: 1, arbitrary: fc.constant("**") });
    const glob = fc
      .array(part, { minLength: 2, maxLength: 4 })
      .map((parts) => parts.join("/"))
      .filter((each) => !/\*\*[^/]|[^/]\*\*|(^|\/)\.{1,2}(\/|$)|\*\*$/.test(each));
    const path = fc
      .array(
        fc.stringMatching(/^[ab.]{1,4}$/).filter((each) => !/^\.\.?$/.test(each)),
        { minLength: 1, maxLength: 4 },
      )
      .map((parts) => parts.join("/"));
    fc.assert(
      fc.property(glob, path, (pattern, text) => {
        expect(matches(pattern, text)).toBe(picomatch.isMatch(text, pattern, { dot: true, noextglob: true, strictSlashes: true }));
      }),
      { numRuns: 3_000 },
    );
  });

  it("takes its time in proportion, whatever the pattern", () => {
    const name = "a".repeat(255);
    expect(matches(`${"*a".repeat(120)}b`, name)).toBe(false);
    expect(matches(`${"**/a/".repeat(100)}b`, Array.from({ length: 2_000 }, () => "a").join("/"))).toBe(false);
  });

  it.each([
    ["", 'The glob "" names nothing. Use *, ?, [abc], {a,b} and **, as in "src/**/*.ts".'],
    ["./", 'The glob "./" names nothing. Use *, ?, [abc], {a,b} and **, as in "src/**/*.ts".'],
  ])("refuses %j", (glob, message) => {
    expect(() => compileGlob(glob)).toThrow(expect.objectContaining({ code: "invalid_argument", message }));
  });

  it("refuses braces that multiply without end", () => {
    expect(() => compileGlob("{a,b}".repeat(20))).toThrow(/has too many alternatives in braces/);
  });
});

describe("parseGitignore", () => {
  const verdict = (text: string, path: string) => {
    const components = path.replace(/\/$/, "").split("/");
    return parseGitignore(text)(components.at(-1) ?? "", () => components, path.endsWith("/"));
  };

  it("keeps to Git's small print", () => {
    expect(verdict("# note\r\n\r\na\r\n", "a")).toBe("ignored");
    expect(verdict("a  ", "a")).toBe("ignored");
    expect(verdict("a\\  ", "a ")).toBe("ignored");
    expect(verdict("a\t", "a")).toBeUndefined();
    expect(verdict("a/", "a")).toBeUndefined();
    expect(verdict("a/", "x/a/")).toBe("ignored");
    expect(verdict("/", "a")).toBeUndefined();
    expect(verdict("{a,b}", "a")).toBeUndefined();
    expect(verdict("a\n!a", "a")).toBe("kept");
    expect(verdict("!a\na", "a")).toBe("ignored");
  });

  it("leaves out what nobody writes by hand", () => {
    expect(verdict(`${"a".repeat(501)}`, "a".repeat(501))).toBeUndefined();
    expect(verdict(`${"x\n".repeat(2_000)}a`, "a")).toBeUndefined();
  });
});
