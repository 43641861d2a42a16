import fc from "fast-check";

/*
 * Shell scripts over the commands c1 to c4, most of them almost valid: made by a grammar, then damaged in up to two places
 * with what shells give a meaning to.
 */

const word = fc.constantFrom(
  "c1",
  "c2",
  "c3",
  "c4",
  "a",
  "'c1'",
  '"c2"',
  "c\\3",
  "$x",
  "-c",
  "true",
  "x",
  "{c1,c2}",
  "*",
  "$'c1'",
  '$"c2"',
  "~",
  "\\\nc1",
  "!",
  "time",
  "[",
  "c1#",
  "#c2",
  "\x24{x:-c1}",
  "$((1))",
  "\u00a0c1",
);
const name = fc.constantFrom("c1", "c2", "c3", "c4", "eval", "exec", "sh -c", "bash -c", "command", "true", "x=1 c1", "time", "!");
const redirection = fc.constantFrom(
  "",
  "",
  " >/dev/null",
  " </dev/null",
  " 2>&1",
  " <<E\nc3 $(c4)\nE\n",
  " <<'E'\n$(c3)\nE\n",
  " <<-E\n\tc3\n\tE\n",
  " <<<c1",
);
const joint = fc.constantFrom("; ", " & ", " && ", " || ", " | ", "\n", " |& ", ";", "&", "|", "\r\n", "\\\n", " # ", "\t");

const PAIRS: readonly (readonly [string, string])[] = [
  ["$(", ")"],
  ["`", "`"],
  ['"$(', ')"'],
  ["<(", ")"],
  ["'", "'"],
  ['"', '"'],
  ["${x:-", "}"],
  ["$((", "))"],
  ["$(<", ")"],
  ["${x#", "}"],
];

const COMPOUNDS: readonly ((a: string, b: string) => string)[] = [
  (a) => `(${a})`,
  (a) => `{ ${a}; }`,
  (a, b) => `if ${a}; then ${b}; fi`,
  (a) => `for i in c1 c2; do ${a}; done`,
  (a, b) => `case x in x) ${a};; c1|y) ${b};; esac`,
  (a, b) => `while ${a}; false; do ${b}; done`,
  (a) => `until true; do ${a}; done`,
  (a) => `f() { ${a}; }; f`,
  (a) => `function f { ${a}; }; f`,
  (a) => `((${a}))`,
  (a, b) => `[[ ${a} && ${b} ]]`,
  (a) => `for ((i=0; i<1; i++)); do ${a}; done`,
  (a) => `select i in c1; do ${a}; done`,
  (a) => `coproc ${a}`,
  (a) => `@(${a})`,
  (a) => `!(${a})`,
];

const { script } = fc.letrec<{ script: string; command: string; inner: string; list: string; compound: string }>((tie) => ({
  script: fc.oneof({ maxDepth: 4, depthSize: "small" }, tie("command"), tie("command"), tie("list"), tie("compound")),
  command: fc
    .tuple(name, fc.array(fc.oneof(word, tie("inner")), { maxLength: 2 }), redirection)
    .map(([first, rest, after]) => [first, ...rest].join(" ") + after),
  inner: fc.tuple(fc.constantFrom(...PAIRS), tie("script")).map(([[before, after], inner]) => before + inner + after),
  list: fc.tuple(tie("script"), joint, tie("script")).map((parts) => parts.join("")),
  compound: fc.tuple(fc.constantFrom(...COMPOUNDS), tie("script"), tie("script")).map(([make, a, b]) => make(a, b)),
}));

const damage = fc.constantFrom(
  "'",
  '"',
  "`",
  "(",
  ")",
  "{",
  "}",
  ";",
  "&",
  "|",
  "\n",
  " ",
  "\\",
  "#",
  "$",
  "<",
  ">",
  "<<",
  "E\n",
  "\nE\n",
  "if ",
  "fi",
  "do ",
  "done",
  "[[",
  "]]",
  "((",
  "))",
  "c4",
  "c4 ",
  "\t",
  "=",
  "!",
  "$(",
  "*",
  "~",
  "case ",
  "esac",
  ";;",
  "in ",
  "\r",
  "\u00a0",
  "\u2028",
  "{ ",
  "} ",
  "then ",
  "function ",
  "<<<",
  "&>",
  "$'",
);

export const shellScript: fc.Arbitrary<string> = fc
  .tuple(script, fc.array(fc.tuple(fc.nat(), fc.constantFrom("insert", "remove", "replace"), damage), { maxLength: 2 }))
  .map(([text, edits]) =>
    edits.reduce((damaged, [position, how, piece]) => {
      const at = position % (damaged.length + 1);
      return damaged.slice(0, at) + (how === "remove" ? "" : piece) + damaged.slice(how === "insert" ? at : at + 1);
    }, text),
  );
