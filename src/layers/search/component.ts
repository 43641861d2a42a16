import { MANY, matchesSequence, type Sequence } from "./sequence.js";

type CharacterTest = (character: string) => boolean;

const POSIX_CLASSES: Readonly<Record<string, RegExp>> = {
  alnum: /[A-Za-z0-9]/,
  alpha: /[A-Za-z]/,
  blank: /[ \t]/,
  cntrl: /[^ -~\u0080-\u{10ffff}]/u,
  digit: /[0-9]/,
  graph: /[!-~]/,
  lower: /[a-z]/,
  print: /[ -~]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /\s/,
  upper: /[A-Z]/,
  xdigit: /[0-9A-Fa-f]/,
};

/** A test for one path component: `*`, `?`, `[a-z]`, `[!a]`, `[[:alpha:]]`, and a backslash before what stands for itself. */
export function compileComponent(pattern: string): (name: string) => boolean {
  if (!/[*?[\\]/.test(pattern)) return (name) => name === pattern;
  const characters = [...pattern];
  const sequence: Sequence<string>[number][] = [];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] as string;
    const set = character === "[" ? parseSet(characters, at) : undefined;
    if (set !== undefined) {
      sequence.push(set.test);
      at = set.end;
    } else if (character === "*") {
      if (sequence.at(-1) !== MANY) sequence.push(MANY);
    } else if (character === "?") sequence.push(() => true);
    else {
      if (character === "\\" && at + 1 < characters.length) at += 1;
      const literal = characters[at];
      sequence.push((other) => other === literal);
    }
  }
  return (name) => matchesSequence(sequence, [...name]);
}

/** The set that opens at `start`, and where it ends; undefined when it is never closed, and the bracket is literal. */
function parseSet(characters: readonly string[], start: number): { readonly test: CharacterTest; readonly end: number } | undefined {
  const negated = characters[start + 1] === "!" || characters[start + 1] === "^";
  const first = start + (negated ? 2 : 1);
  const tests: CharacterTest[] = [];
  for (let at = first; at < characters.length; at += 1) {
    if (characters[at] === "]" && at > first) {
      return { test: (character) => tests.some((test) => test(character)) !== negated, end: at };
    }
    const named = characters[at] === "[" && characters[at + 1] === ":" ? /^\[:(\w+):\]/.exec(characters.slice(at, at + 12).join("")) : null;
    const posix = named === null ? undefined : POSIX_CLASSES[named[1] as string];
    if (named !== null && posix !== undefined) {
      tests.push((character) => posix.test(character));
      at += named[0].length - 1;
      continue;
    }
    if (characters[at] === "\\") at += 1;
    const low = codePoint(characters[at]);
    const ranged = characters[at + 1] === "-" && at + 2 < characters.length && characters[at + 2] !== "]";
    if (ranged) at += characters[at + 2] === "\\" ? 3 : 2;
    const high = codePoint(characters[at]);
    tests.push((character) => codePoint(character) >= low && codePoint(character) <= high);
  }
  return undefined;
}

function codePoint(character: string | undefined): number {
  return character?.codePointAt(0) ?? Number.NaN;
}
