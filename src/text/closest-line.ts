import { fold } from "./fold.js";
import { firstCharacters } from "./truncate.js";
import { showLossless } from "./utf8.js";

export interface ClosestLine {
  /** 1-based. */
  readonly line: number;
  /** Without blanks around it, at most 200 characters. */
  readonly text: string;
}

/** Looked at: beyond this, a hint is not worth the time. UTF-16 units. */
const MAX_SEARCHED = 4 * 1024 * 1024;
/** Shared pairs of characters, of all pairs of both: below this two lines are not alike. */
const NEAR = 0.6;
const BUCKETS = 4096;

/** The line of `content` most like the first line of `wanted` that is not blank, if one is near. The first of equals. */
export function closestLine(content: string, wanted: string): ClosestLine | undefined {
  const first = fold(wanted)
    .split("\n")
    .map((line) => line.trim())
    .find((line) => line !== "");
  if (first === undefined) return undefined;
  const needle = firstCharacters(first, 500);
  const likeness = likenessTo(needle);
  let best: ClosestLine | undefined;
  let bestScore = NEAR;
  let number = 0;
  for (let start = 0; start < content.length && start < MAX_SEARCHED; ) {
    const feed = content.indexOf("\n", start);
    const end = feed === -1 ? content.length : feed;
    number += 1;
    const text = content.slice(start, Math.min(end, start + 2000)).trim();
    if (couldBeNear(text.length, needle.length)) {
      const score = likeness(fold(text));
      if (score > bestScore || (best === undefined && score >= bestScore)) {
        best = { line: number, text: firstCharacters(showLossless(text), 200) };
        bestScore = score;
      }
    }
    start = end + 1;
  }
  return best;
}

function couldBeNear(one: number, other: number): boolean {
  return one > 0 && (2 * Math.min(one, other)) / (one + other) >= NEAR;
}

/** Dice's coefficient of the pairs of neighbouring characters of `needle` and of each text that comes. */
function likenessTo(needle: string): (text: string) => number {
  const wanted = new Int16Array(BUCKETS);
  const seen = new Int16Array(BUCKETS);
  for (let index = 1; index < needle.length; index += 1) {
    const bucket = bucketOf(needle, index);
    wanted[bucket] = (wanted[bucket] ?? 0) + 1;
  }
  return (text) => {
    if (text === needle) return 1;
    if (needle.length < 2 || text.length < 2) return 0;
    let shared = 0;
    for (let index = 1; index < text.length; index += 1) {
      const bucket = bucketOf(text, index);
      const before = seen[bucket] ?? 0;
      if (before < (wanted[bucket] ?? 0)) shared += 1;
      seen[bucket] = before + 1;
    }
    for (let index = 1; index < text.length; index += 1) seen[bucketOf(text, index)] = 0;
    return (2 * shared) / (needle.length - 1 + text.length - 1);
  };
}

function bucketOf(text: string, index: number): number {
  return (text.charCodeAt(index - 1) * 61 + text.charCodeAt(index)) % BUCKETS;
}
