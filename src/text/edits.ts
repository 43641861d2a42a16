import { type ClosestLine, closestLine } from "./closest-line.js";
import { type Fold, isBlankText } from "./fold.js";
import { createFuzzyFinder, type FuzzyFinder } from "./fuzzy-match.js";
import { adaptEndings, lineNumberAt } from "./line-endings.js";
import { findOccurrences } from "./occurrences.js";

export interface Edit {
  readonly oldText: string;
  readonly newText: string;
}

export interface Replacement {
  /** Which edit asked for it, from 0. */
  readonly edit: number;
  /** Range of the original content, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** 1-based, in the original content. */
  readonly line: number;
  /** What goes there, its line endings already those of the file. */
  readonly text: string;
  /** What an inexact match overlooked; empty for an exact one. */
  readonly folds: readonly Fold[];
}

export type EditProblem =
  | { readonly kind: "empty"; readonly edit: number }
  | { readonly kind: "blank"; readonly edit: number }
  | { readonly kind: "not_found"; readonly edit: number; readonly closest?: ClosestLine }
  | { readonly kind: "several"; readonly edit: number; readonly count: number; readonly lines: readonly number[]; readonly exact: boolean }
  | { readonly kind: "overlap"; readonly edit: number; readonly other: number; readonly line: number }
  | { readonly kind: "no_change" };

export type EditPlan =
  | { readonly ok: true; readonly text: string; readonly replacements: readonly Replacement[] }
  | { readonly ok: false; readonly problems: readonly EditProblem[] };

/**
 * Matches every `oldText` against the original content, all or nothing. An exact match must be the only exact one,
 * overlapping ones counted. Without any, one inexact match (see `createFuzzyFinder`) is taken if it is the only one. What is
 * outside the replaced ranges is kept as it is. Everything is literal. Problems come in the order of the edits.
 */
export function planEdits(content: string, edits: readonly Edit[]): EditPlan {
  let finder: FuzzyFinder | undefined;
  const fuzzy: FuzzyFinder = (needle) => {
    finder ??= createFuzzyFinder(content);
    return finder(needle);
  };
  const found = edits.map((edit, index) => locate(content, edit, index, fuzzy));
  const replacements = found
    .filter((each): each is Replacement => !isProblem(each))
    .sort((one, other) => one.start - other.start || one.end - other.end);
  const problems = [...found.filter(isProblem), ...overlaps(replacements)];
  if (problems.length > 0) return { ok: false, problems };
  const text = replace(content, replacements);
  return text === content ? { ok: false, problems: [{ kind: "no_change" }] } : { ok: true, text, replacements };
}

function isProblem(each: Replacement | EditProblem): each is EditProblem {
  return "kind" in each;
}

function locate(content: string, { oldText, newText }: Edit, edit: number, fuzzy: FuzzyFinder): Replacement | EditProblem {
  if (oldText === "") return { kind: "empty", edit };
  const exact = findOccurrences(content, oldText);
  const at = exact.starts[0];
  if (at !== undefined) {
    if (exact.count > 1) return several(content, edit, exact.count, exact.starts, true);
    return replacement(content, edit, at, at + oldText.length, newText, []);
  }
  if (isBlankText(oldText)) return { kind: "blank", edit };
  const { count, matches } = fuzzy(oldText);
  const match = matches[0];
  if (match === undefined) {
    const closest = closestLine(content, oldText);
    return { kind: "not_found", edit, ...(closest === undefined ? {} : { closest }) };
  }
  if (count > 1) {
    const starts = matches.map(({ start }) => start);
    return several(content, edit, count, starts, false);
  }
  return replacement(content, edit, match.start, match.end, newText, match.folds);
}

function replacement(content: string, edit: number, start: number, end: number, newText: string, folds: readonly Fold[]): Replacement {
  return { edit, start, end, line: lineNumberAt(content, start), text: adaptEndings(content, start, end, newText), folds };
}

function several(content: string, edit: number, count: number, starts: readonly number[], exact: boolean): EditProblem {
  return { kind: "several", edit, count, lines: starts.map((start) => lineNumberAt(content, start)), exact };
}

function overlaps(sorted: readonly Replacement[]): readonly EditProblem[] {
  const problems: EditProblem[] = [];
  let furthest: Replacement | undefined;
  for (const each of sorted) {
    if (furthest !== undefined && each.start < furthest.end) {
      const [edit, other] = [furthest.edit, each.edit].sort((one, two) => one - two) as [number, number];
      problems.push({ kind: "overlap", edit, other, line: each.line });
    }
    if (furthest === undefined || each.end > furthest.end) furthest = each;
  }
  return problems;
}

function replace(content: string, sorted: readonly Replacement[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const { start, end, text } of sorted) {
    parts.push(content.slice(from, start), text);
    from = end;
  }
  parts.push(content.slice(from));
  return parts.join("");
}
