import { foldSpaces } from "./fold.js";

/** Names longer than this are compared by their start only. */
const MAX_COMPARED = 64;

/**
 * Those of `names` that `wanted` may have meant, nearest first, at most `limit`: the same but for case, Unicode form or
 * spaces; the same but for the extension; one within the other; or a few typing errors away.
 */
export function nearestNames(wanted: string, names: readonly string[], limit = 5): readonly string[] {
  const target = normal(wanted);
  return names
    .map((name) => ({ name, distance: distanceOf(target, normal(name)) }))
    .filter(({ distance }) => distance !== undefined)
    .sort((one, other) => (one.distance ?? 0) - (other.distance ?? 0) || (one.name < other.name ? -1 : 1))
    .slice(0, limit)
    .map(({ name }) => name);
}

function normal(name: string): string {
  return foldSpaces(name.normalize("NFC")).toLowerCase().slice(0, MAX_COMPARED);
}

/** Smaller is nearer; undefined is not near at all. */
function distanceOf(target: string, name: string): number | undefined {
  if (target === name) return 0;
  const typos = typingErrors(target, name, Math.max(1, Math.floor(target.length / 3)));
  if (typos !== undefined) return typos;
  if (stem(target) === stem(name) && stem(name).length > 1) return 20;
  if (target.length >= 3 && name.length >= 3 && (name.includes(target) || target.includes(name))) return 30;
  return undefined;
}

function stem(name: string): string {
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(0, dot) : name;
}

/** Insertions, deletions, substitutions and swaps of neighbours between the two; undefined beyond `most`. */
function typingErrors(one: string, other: string, most: number): number | undefined {
  if (Math.abs(one.length - other.length) > most) return undefined;
  let before: number[] = [];
  let previous = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const same = one[row - 1] === other[column - 1];
      let errors = Math.min((previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, (previous[column - 1] ?? 0) + (same ? 0 : 1));
      if (row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]) {
        errors = Math.min(errors, (before[column - 2] ?? 0) + 1);
      }
      current.push(errors);
    }
    before = previous;
    previous = current;
  }
  const errors = previous[other.length] ?? 0;
  return errors <= most ? errors : undefined;
}
