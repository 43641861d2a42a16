/**
 * `newText` with its line feeds (`\n`, `\r\n`) written as the lines that it lands on end: its n-th ending as the n-th ending of
 * `content.slice(start, end)`; those beyond as the last of these lines. A lone carriage return is left as it is. Two texts
 * that differ only in line endings are about line endings: then `newText` stays as written.
 */
export function adaptEndings(content: string, start: number, end: number, newText: string): string {
  if (!newText.includes("\n")) return newText;
  const found = content.slice(start, end);
  if (withLineFeeds(found) === withLineFeeds(newText)) return newText;
  const endings = found.matchAll(/\r\n|\n|\r/g);
  let ending: string | undefined;
  let beyond = false;
  return newText.replace(/\r?\n/g, (asWritten) => {
    const next = beyond ? undefined : endings.next().value?.[0];
    if (next !== undefined) {
      ending = next;
    } else if (!beyond) {
      beyond = true;
      if (!/[\r\n]$/.test(found)) ending = endingAfter(content, end) ?? ending ?? endingBefore(content, start);
    }
    return ending ?? asWritten;
  });
}

/** The 1-based number of the line that `offset` is in. Lines end in a line feed, as everywhere a model sees line numbers. */
export function lineNumberAt(content: string, offset: number): number {
  let line = 1;
  for (let at = content.indexOf("\n"); at !== -1 && at < offset; at = content.indexOf("\n", at + 1)) line += 1;
  return line;
}

function withLineFeeds(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}

function endingAfter(content: string, offset: number): string | undefined {
  const search = /\r\n|\n|\r/g;
  search.lastIndex = offset;
  return search.exec(content)?.[0];
}

function endingBefore(content: string, offset: number): string | undefined {
  const last = Math.max(content.lastIndexOf("\n", offset - 1), content.lastIndexOf("\r", offset - 1));
  if (offset === 0 || last === -1) return undefined;
  return content[last] === "\n" && content[last - 1] === "\r" ? "\r\n" : content[last];
}
