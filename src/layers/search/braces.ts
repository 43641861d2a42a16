/** More alternatives than this are refused. */
const MAX_ALTERNATIVES = 1_000;

/**
 * `src/{a,b}.ts` as `src/a.ts` and `src/b.ts`, nested ones too. Braces without a comma, or never closed, are literal.
 * Undefined when there are more than 1,000.
 */
export function braceAlternatives(pattern: string): readonly string[] | undefined {
  const done: string[] = [];
  const pending = [pattern];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const group = firstGroup(next);
    if (group === undefined) done.push(next);
    else pending.push(...group);
    if (done.length + pending.length > MAX_ALTERNATIVES) return undefined;
  }
  return done;
}

/** What the first group of `pattern` that has alternatives makes of it. */
function firstGroup(pattern: string): readonly string[] | undefined {
  for (let open = pattern.indexOf("{"); open >= 0; open = pattern.indexOf("{", open + 1)) {
    if (isEscaped(pattern, open)) continue;
    const cuts = [open];
    let depth = 0;
    for (let at = open; at < pattern.length; at += 1) {
      const character = pattern[at];
      if (character === "\\") at += 1;
      else if (character === "{") depth += 1;
      else if (character === "," && depth === 1) cuts.push(at);
      else if (character === "}") depth -= 1;
      if (depth > 0) continue;
      cuts.push(at);
      break;
    }
    if (depth > 0 || cuts.length < 3) continue;
    const [before, after] = [pattern.slice(0, open), pattern.slice((cuts.at(-1) as number) + 1)];
    return cuts.slice(1).map((cut, index) => before + pattern.slice((cuts[index] as number) + 1, cut) + after);
  }
  return undefined;
}

function isEscaped(pattern: string, at: number): boolean {
  let backslashes = 0;
  while (pattern[at - 1 - backslashes] === "\\") backslashes += 1;
  return backslashes % 2 === 1;
}
