import type { GrepLine, GrepQuery } from "../../contract/operations.js";
import type { Matcher } from "./matcher.js";

interface LinesFound {
  readonly lines: readonly GrepLine[];
  readonly matches: number;
  /** There was one match more than `limit`. */
  readonly limitReached: boolean;
}

/** Lines are cut here unless the query says otherwise. */
const MAX_LINE_LENGTH = 500;

/** The lines of one file that match, at most `query.limit` (0 or more) of them, with their context. */
export async function matchingLines(
  matcher: Matcher,
  path: string,
  content: string,
  { limit, context = 0, maxLineLength = MAX_LINE_LENGTH }: Omit<GrepQuery, "pattern">,
  signal?: AbortSignal,
): Promise<LinesFound> {
  const texts = content.split("\n");
  if (texts.at(-1) === "") texts.pop();
  for (const [index, text] of texts.entries()) if (text.endsWith("\r")) texts[index] = text.slice(0, -1);

  const found = await matcher.match(texts, limit + 1, signal);
  const shown = found.slice(0, limit);
  const matching = new Set(shown);
  const lines: GrepLine[] = [];
  let next = 0;
  for (const match of shown) {
    const last = Math.min(match + context, texts.length - 1);
    for (let index = Math.max(next, match - context); index <= last; index += 1) {
      const kind = matching.has(index) ? "match" : "context";
      lines.push({ path, line: index + 1, kind, ...cutText(texts[index] ?? "", maxLineLength) });
    }
    next = Math.max(next, last + 1);
  }
  return { lines, matches: shown.length, limitReached: found.length > limit };
}

/** Cut at whole characters: code points, not halves of them. */
function cutText(text: string, most: number): Pick<GrepLine, "text" | "cut"> {
  if (text.length <= most) return { text };
  const characters = [...text.slice(0, 2 * most + 1)];
  return characters.length <= most ? { text } : { text: characters.slice(0, most).join(""), cut: true };
}
