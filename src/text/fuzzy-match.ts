import { FOLDS, type Fold, fold, foldWithOrigins } from "./fold.js";
import { findOccurrences } from "./occurrences.js";

export interface FuzzyMatch {
  readonly start: number;
  readonly end: number;
  /** What had to be overlooked. */
  readonly folds: readonly Fold[];
}

export interface FuzzyMatches {
  readonly count: number;
  /** The first of them, at most ten. */
  readonly matches: readonly FuzzyMatch[];
}

/** Searches one content for as many needles as come. */
export type FuzzyFinder = (needle: string) => FuzzyMatches;

/**
 * Folds `content` once for searches that overlook line endings, blanks at line ends, typographic quotes, dashes and spaces.
 * Matches are ranges of the content itself. Blanks at the needle's own end stand for blanks, or for a line end.
 */
export function createFuzzyFinder(content: string): FuzzyFinder {
  const { text: haystack, origins } = foldWithOrigins(content);

  const isLineEnd = (offset: number): boolean => offset === haystack.length || haystack[offset] === "\n";
  const originOf = (offset: number): number => origins[offset] ?? content.length;
  const endOf = (last: number): number => {
    const origin = originOf(last);
    return origin + (content.startsWith("\r\n", origin) && haystack[last] === "\n" ? 2 : 1);
  };

  return (needle) => {
    const folded = fold(needle, { keepEnd: true });
    const trimmed = fold(needle);
    const inside = findOccurrences(haystack, folded);
    const ranges = inside.starts.map((start) => ({ start: originOf(start), end: endOf(start + folded.length - 1) }));
    let { count } = inside;
    if (trimmed !== folded) {
      const { starts } = findOccurrences(haystack, trimmed, Number.POSITIVE_INFINITY);
      const atLineEnd = starts.map((start) => ({ start, end: start + trimmed.length })).filter(({ end }) => isLineEnd(end));
      count += atLineEnd.length;
      ranges.push(...atLineEnd.slice(0, 10).map(({ start, end }) => ({ start: originOf(start), end: originOf(end) })));
    }
    ranges.sort((one, other) => one.start - other.start);
    const matches = ranges.slice(0, 10).map(({ start, end }) => ({ start, end, folds: foldsBetween(content.slice(start, end), needle) }));
    return { count, matches };
  };
}

/** Those folds without which the two would still differ. */
function foldsBetween(found: string, needle: string): readonly Fold[] {
  return FOLDS.filter((each) => {
    const folds = new Set(FOLDS.filter((other) => other !== each));
    return fold(found, { folds }) !== fold(needle, { folds });
  });
}
