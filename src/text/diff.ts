import { countLineFeeds, groupByLines, type LineGroup, type TextReplacement } from "./diff-regions.js";
import { showLossless } from "./utf8.js";

/** A hunk of a unified diff; lines carry their sign (" ", "-", "+") and no line feed. */
export interface Hunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly lines: readonly string[];
}

export interface LineDiff {
  readonly hunks: readonly Hunk[];
  readonly added: number;
  readonly removed: number;
  /** UTF-16 units of all hunks together. */
  readonly length: number;
}

/** Lines of context around a change. */
const CONTEXT = 3;
/** Beyond this a changed region is given as one block: right, if not the shortest. The search for it blocks the process. */
const DIFF_TIMEOUT_MS = 250;
const MAX_SEARCHED_LINES = 50_000;
const NO_NEWLINE = "\\ No newline at end of file";

/**
 * What replacements (sorted, apart) change in a text, line by line; lines end in a line feed, a carriage return is part of its
 * line. Costs what is replaced, not what the text is long. Texts made by `decodeLossless` stay lossless. Loads the `diff`
 * package on first use.
 */
export async function diffReplacements(before: string, replacements: readonly TextReplacement[]): Promise<LineDiff> {
  const hunks: Hunk[] = [];
  let oldLine = 0;
  let newLine = 0;
  let counted = 0;
  for (const group of groupByLines(before, replacements, CONTEXT)) {
    const skipped = countLineFeeds(before, counted, group.from);
    counted = group.from;
    oldLine += skipped;
    newLine += skipped;
    const found = await findHunks(group);
    for (const [index, hunk] of found.entries()) {
      const whole = index === found.length - 1 ? withFullTail(hunk, before, group.to) : hunk;
      hunks.push({ ...whole, oldStart: hunk.oldStart + oldLine, newStart: hunk.newStart + newLine });
    }
    newLine += countLineFeeds(group.after) - countLineFeeds(group.before);
  }
  let [added, removed, length] = [0, 0, 0];
  for (const { lines } of hunks) {
    for (const line of lines) {
      length += line.length + 1;
      if (line.startsWith("+")) added += 1;
      if (line.startsWith("-")) removed += 1;
    }
  }
  return { hunks, added, removed, length };
}

/** A diff as a unified patch of the file `path`, which `patch -p1` and `git apply` take. Needs `isExact(diff)`. */
export function formatPatch(path: string, { hunks }: LineDiff): string {
  const header = `--- ${patchName(`a/${path}`)}\n+++ ${patchName(`b/${path}`)}\n`;
  const parts = hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) => {
    // An empty side is named by the line before it.
    const from = oldLines === 0 ? oldStart - 1 : oldStart;
    const to = newLines === 0 ? newStart - 1 : newStart;
    return `@@ -${from},${oldLines} +${to},${newLines} @@\n${lines.join("\n")}\n`;
  });
  return header + parts.join("");
}

/** Whether a text can hold the diff: no line of it has a byte that is not UTF-8. */
export function isExact({ hunks }: LineDiff): boolean {
  return hunks.every(({ lines }) => lines.every((line) => showLossless(line) === line));
}

/** A diff for people: numbered lines, `...` between parts of the file. */
export function formatDiff({ hunks }: LineDiff): string {
  const last = hunks.at(-1);
  const width = last === undefined ? 1 : String(Math.max(last.oldStart + last.oldLines, last.newStart + last.newLines)).length;
  const parts = hunks.map(({ oldStart, newStart, lines }) => {
    let oldLine = oldStart;
    let newLine = newStart;
    return lines
      .filter((line) => line !== NO_NEWLINE)
      .map((line) => {
        const sign = line.charAt(0);
        const number = sign === "-" ? oldLine : newLine;
        if (sign !== "+") oldLine += 1;
        if (sign !== "-") newLine += 1;
        return `${sign}${String(number).padStart(width)} ${showLossless(line.slice(1)).replace(/\r$/, "")}`;
      })
      .join("\n");
  });
  return parts.join("\n...\n");
}

async function findHunks({ before, after }: LineGroup): Promise<readonly Hunk[]> {
  if (before === after) return [];
  if (countLineFeeds(before) + countLineFeeds(after) > MAX_SEARCHED_LINES) return [asOneBlock(before, after)];
  const { structuredPatch } = await import("diff");
  const options = { context: CONTEXT, timeout: DIFF_TIMEOUT_MS };
  return structuredPatch("", "", before, after, undefined, undefined, options)?.hunks ?? [asOneBlock(before, after)];
}

function asOneBlock(before: string, after: string): Hunk {
  const oldLines = splitLines(before);
  const newLines = splitLines(after);
  const lines = [...oldLines.flatMap((line) => signed("-", line)), ...newLines.flatMap((line) => signed("+", line))];
  return { oldStart: 1, oldLines: oldLines.length, newStart: 1, newLines: newLines.length, lines };
}

/**
 * A diff may put a change further down than where the texts first differ (among equal lines, or as one block), so that its
 * group ends too soon after it. Less context behind than before would tell `patch` that the file ends there.
 */
function withFullTail(hunk: Hunk, before: string, from: number): Hunk {
  const changed = hunk.lines.findLastIndex((line) => !line.startsWith(" "));
  const missing = CONTEXT - (hunk.lines.length - 1 - changed);
  const more: string[] = [];
  let count = 0;
  for (let at = from; count < missing && at < before.length; count += 1) {
    const feed = before.indexOf("\n", at);
    const next = feed === -1 ? before.length : feed + 1;
    more.push(...signed(" ", before.slice(at, next)));
    at = next;
  }
  return { ...hunk, oldLines: hunk.oldLines + count, newLines: hunk.newLines + count, lines: [...hunk.lines, ...more] };
}

function splitLines(text: string): readonly string[] {
  return text === "" ? [] : text.split(/(?<=\n)/);
}

function signed(sign: string, line: string): readonly string[] {
  return line.endsWith("\n") ? [sign + line.slice(0, -1)] : [sign + line, NO_NEWLINE];
}

/** A name in a patch header, quoted as `git` and `patch` read it; a tab ends a name with blanks in it. */
function patchName(name: string): string {
  if (/^[\x20\x21\x23-\x5b\x5d-\x7e]*$/.test(name)) return name.includes(" ") ? `${name}\t` : name;
  const quoted = [...Buffer.from(name)].map((byte) => {
    if (byte === 0x22 || byte === 0x5c) return `\\${String.fromCharCode(byte)}`;
    return byte >= 0x20 && byte <= 0x7e ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, "0")}`;
  });
  return `"${quoted.join("")}"`;
}
