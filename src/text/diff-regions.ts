/** `text` in place of what is from `start` to `end`, in UTF-16 units. */
export interface TextReplacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Whole lines of a text in which something is replaced, with context, far enough from the next such lines. */
export interface LineGroup {
  /** Range of the text before. */
  readonly from: number;
  readonly to: number;
  readonly before: string;
  readonly after: string;
}

/**
 * Splits a text into groups of whole lines around its replacements (sorted, apart), each with `context` lines before and behind
 * what really differs (more than that when the lines behind are alike), at least `context` lines apart.
 */
export function groupByLines(text: string, replacements: readonly TextReplacement[], context: number): readonly LineGroup[] {
  const groups: { from: number; to: number; members: TextReplacement[] }[] = [];
  for (const each of replacements) {
    const narrowed = narrow(text, each);
    const from = linesBack(text, narrowed.start, context);
    const to = linesAhead(text, narrowed.end, context + 1);
    const last = groups.at(-1);
    if (last !== undefined && from <= linesAhead(text, last.to, context)) {
      last.to = Math.max(last.to, to);
      last.members.push(narrowed);
    } else {
      groups.push({ from, to, members: [narrowed] });
    }
  }
  return groups.map(({ from, to, members }) => ({ from, to, before: text.slice(from, to), after: replaced(text, from, to, members) }));
}

/** How many line feeds are in `text` from `from` to `to`. */
export function countLineFeeds(text: string, from = 0, to = text.length): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

/** A replacement without what it leaves as it is at both ends. */
function narrow(text: string, { start, end, text: by }: TextReplacement): TextReplacement {
  const shortest = Math.min(end - start, by.length);
  let front = 0;
  while (front < shortest && text.charCodeAt(start + front) === by.charCodeAt(front)) front += 1;
  let back = 0;
  while (back < shortest - front && text.charCodeAt(end - 1 - back) === by.charCodeAt(by.length - 1 - back)) back += 1;
  return { start: start + front, end: end - back, text: by.slice(front, by.length - back) };
}

function replaced(text: string, from: number, to: number, members: readonly TextReplacement[]): string {
  const parts: string[] = [];
  let at = from;
  for (const { start, end, text: by } of members) {
    parts.push(text.slice(at, start), by);
    at = end;
  }
  parts.push(text.slice(at, to));
  return parts.join("");
}

/** The start of the line that `offset` is in, and `lines` lines further back. */
function linesBack(text: string, offset: number, lines: number): number {
  let from = lineStart(text, offset);
  for (let line = 0; line < lines && from > 0; line += 1) from = lineStart(text, from - 1);
  return from;
}

/** After the end of the line that `offset` is in, and of `lines - 1` further ones. */
function linesAhead(text: string, offset: number, lines: number): number {
  let to = offset;
  for (let line = 0; line < lines && to < text.length; line += 1) {
    const feed = text.indexOf("\n", to);
    to = feed === -1 ? text.length : feed + 1;
  }
  return to;
}

function lineStart(text: string, offset: number): number {
  // `lastIndexOf` takes a negative position for 0.
  return offset === 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;
}
