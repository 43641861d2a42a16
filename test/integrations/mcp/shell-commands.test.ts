import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { commandStarts, type Dialect, parseCommands } from "../../../src/integrations/mcp/shell-commands.js";
import { shellScript } from "./shell-scripts.js";

/** Each command as its words, `?` where only a shell will know; `=` when it sets variables, `>` when it writes a file. */
function commandsOf(script: string, dialect: Dialect = "sh"): readonly string[] | string {
  const parsed = parseCommands(script, dialect);
  if (!parsed.ok) return `it ${parsed.why}`;
  return parsed.commands.map(
    ({ words, assigns, writes }) => `${assigns ? "=" : ""}${writes ? ">" : ""}${words.map((word) => word ?? "?").join(" ")}`,
  );
}

describe("the commands of a script", () => {
  it.each([
    ["git status", ["git status"]],
    ["", []],
    ["# only a comment", []],
    ["a; b && c || d | e & f", ["a", "b", "c", "d", "e", "f"]],
    ["a\nb\r\n", ["a", "b\r"]],
    ["(a; { b; }); ! c", ["a", "b", "c"]],
    ["if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]],
    ["for x in $(a) y; do b; done; while c; do d; done; until e; do f; done", ["a", "b", "c", "d", "e", "f"]],
    ["case $(a) in x) b;; *) c;; esac", ["a", "b", "c"]],
    ['echo $(a `b` "$(c)") \x24{x:-$(d)}', ["echo ? ?", "a ? ?", "b", "c", "d"]],
    ["cat <<E\n$(a) `b`\nE\nc", ["cat", "a", "b", "c"]],
    ["cat <<'E'\n$(a)\nE", ["cat"]],
    ["g\\it 'sta'\"tus\" a\\\nb", ["git status ab"]],
    ["x=1 git status; y=2; export z=3", ["=git status", "=", "export ?"]],
    ["ls > out; ls >> out; ls 2>&1 >/dev/null; { ls; } > out", [">ls", ">ls", "ls", ">", "ls"]],
    ["$x; r* y; ~/z; {a,b}", ["?", "? y", "?", "?"]],
    ["sh -c 'a; b' && bash -lc \"c | d\"", ["sh -c a; b", "a", "b", "bash -lc c | d", "c", "d"]],
    ["sudo -n env x=1 sh -c 'rm -rf y'", ["sudo -n env x=1 sh -c rm -rf y", "rm -rf y"]],
    ["eval 'a;' b", ["eval a; b", "a", "b"]],
    ['eval $x; sh -c "$y"; bash -c -x z', ["eval ?", "?", "sh -c ?", "?", "bash -c -x z", "?"]],
    ["grep eval x; echo sh -c y", ["grep eval x", "echo sh -c y"]],
    ["echo $((1 + x))", ["echo ?"]],
    ["time a", ["a"]],
  ])("%j", (script, expected) => {
    expect(commandsOf(script)).toEqual(expected);
  });

  it.each([
    ["echo 'open", "it cannot be parsed: unterminated single quote"],
    ["a &&", /^it cannot be parsed/],
    ["if a", /^it cannot be parsed/],
    ["[[ -f x && y ]]", "it holds what only bash understands (TestCommand), and the target's shell may be another"],
    ["$'rm' x", "it holds what only bash understands (AnsiCQuoted), and the target's shell may be another"],
    ["((rm -rf x))", "it holds what cannot be judged (ArithmeticCommand)"],
    ["echo $((rm;ls))", "it holds arithmetic that may be read as commands"],
    ["ls !(x)", "it holds what cannot be judged (ExtendedGlob)"],
    ["cat <<`a`\nx\n`a`", "it holds a here-document whose end is hard to tell"],
    ["sh -c 'echo \"open'", /^it cannot be parsed/],
    [`${"sh -c ".repeat(1)}${"x".repeat(100_001)}`, "it is too long to be judged"],
    [Array.from({ length: 12 }).reduce<string>((inner) => `eval '${inner.replaceAll("'", `'\\''`)}'`, "a"), /too deeply|too long/],
    ["(".repeat(1_000), /^it /],
  ])("are not told of %j", (script, expected) => {
    if (expected instanceof RegExp) expect(commandsOf(script)).toMatch(expected);
    else expect(commandsOf(script)).toBe(expected);
  });

  it("are told where the shell is known to be bash", () => {
    expect(commandsOf("[[ -f $(a) ]] && b <<< $(c); f() { d; }; e <(g) $'h\\n'", "bash")).toEqual(["a", "b", "c", "d", "e ? h\n", "g"]);
  });
});

describe("no shell runs a command that was not told", () => {
  const empty = mkdtempSync(join(tmpdir(), "glovebox-no-commands-"));
  afterAll(() => rmSync(empty, { recursive: true }));

  /** The commands that the shell looked for and, on an empty PATH, did not find. */
  const lookedFor = (shell: string, script: string): readonly string[] => {
    const { stderr } = spawnSync(shell, ["-c", script], {
      env: { PATH: empty },
      cwd: empty,
      timeout: 5_000,
      input: "",
      encoding: "utf8",
      killSignal: "SIGKILL",
    });
    return [...stderr.replaceAll("\r", "R").matchAll(/: (c\d): (?:command )?not found/g)].map(([, name]) => name ?? "");
  };

  it.each([
    ["/bin/dash", "sh"],
    ["/bin/bash", "sh"],
    ["/bin/bash", "bash"],
  ] as const)("by %s, read as %s", (shell, dialect) => {
    if (!existsSync(shell)) return;
    let ran = 0;
    fc.assert(
      fc.property(shellScript, (script) => {
        const parsed = parseCommands(script, dialect);
        if (!parsed.ok) return;
        const unknown = parsed.commands.some(
          ({ words }) => words.length > 0 && commandStarts(words).some((start) => words[start] === undefined),
        );
        if (unknown) return;
        const told = new Set(parsed.commands.flatMap(({ words }) => words));
        const found = lookedFor(shell, script);
        ran += found.length;
        expect(found.filter((name) => !told.has(name))).toEqual([]);
      }),
      { numRuns: 250 },
    );
    expect(ran).toBeGreaterThan(20);
  });
});
