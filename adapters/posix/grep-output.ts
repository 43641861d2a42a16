import type { GrepLine, GrepQuery, SearchOptions } from "../../src/contract/operations.js";

export interface RawLine {
  /** As the tool prints it: with `./` before it. */
  readonly path: string;
  readonly line: number;
  readonly kind: "match" | "context";
  readonly text: string;
}

type Reader = (chunk: Buffer) => void;

const NUL = 0;
const LINE_FEED = 10;

/** `./path NUL 12:text LF` and `./path NUL 11-context LF`; what stands between such lines is not ours. */
export function ripgrepLines(onLine: (line: RawLine) => void): Reader {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = rest.byteLength === 0 ? chunk : Buffer.concat([rest, chunk]);
    let from = 0;
    for (;;) {
      const nul = rest.indexOf(NUL, from);
      const end = nul === -1 ? -1 : rest.indexOf(LINE_FEED, nul);
      if (end === -1) break;
      // A separator or a remark came before the path, which may hold line feeds itself.
      const path = rest.toString("utf8", from, nul).replace(/^.*\n(?=\.\/)/s, "");
      const line = parseLine(path, rest.toString("utf8", nul + 1, end));
      if (line !== undefined) onLine(line);
      from = end + 1;
    }
    rest = rest.subarray(from);
  };
}

/** `NUL ./path NUL` and then lines `12:text`, `11-context`, `--`. */
export function grepLines(onLine: (line: RawLine) => void): Reader {
  let rest: Buffer = Buffer.alloc(0);
  let path = "";
  return (chunk) => {
    rest = rest.byteLength === 0 ? chunk : Buffer.concat([rest, chunk]);
    let from = 0;
    while (from < rest.byteLength) {
      if (rest[from] === NUL) {
        const end = rest.indexOf(NUL, from + 1);
        if (end === -1) break;
        path = rest.toString("utf8", from + 1, end);
        from = end + 1;
        continue;
      }
      const end = rest.indexOf(LINE_FEED, from);
      if (end === -1) break;
      const line = parseLine(path, rest.toString("utf8", from, end));
      if (line !== undefined) onLine(line);
      from = end + 1;
    }
    rest = rest.subarray(from);
  };
}

function parseLine(path: string, text: string): RawLine | undefined {
  const [numbered, number = "", sign] = /^(\d+)([:-])/.exec(text) ?? [];
  if (numbered === undefined) return undefined;
  return { path, line: Number(number), kind: sign === ":" ? "match" : "context", text: text.slice(numbered.length).replace(/\r$/, "") };
}

export interface LineCollector {
  take(line: RawLine): void;
  result(): { readonly lines: readonly GrepLine[]; readonly matches: number; readonly limitReached: boolean };
}

type CollectorOptions = Required<Pick<GrepQuery, "limit" | "context" | "maxLineLength">> & Pick<SearchOptions<GrepLine>, "onBatch">;

/** Keeps what the query asks for, file by file. */
export function createLineCollector({ limit, context, maxLineLength, onBatch }: CollectorOptions): LineCollector {
  const lines: GrepLine[] = [];
  let ofFile: GrepLine[] = [];
  let path: string | undefined;
  let matches = 0;
  let limitReached = false;
  let lastMatch = 0;

  const flush = (): void => {
    // Context that belongs to a match beyond the limit goes with it.
    const batch = limitReached ? ofFile.filter(({ line }) => line <= lastMatch + context) : ofFile;
    for (const line of batch) lines.push(line);
    if (batch.length > 0) onBatch?.(batch);
    ofFile = [];
  };
  return {
    take(line) {
      if (limitReached) return;
      if (line.path !== path) {
        flush();
        path = line.path;
      }
      if (line.kind === "match") {
        if (matches === limit) {
          limitReached = true;
          flush();
          return;
        }
        matches += 1;
        lastMatch = line.line;
      }
      ofFile.push({ path: line.path.replace(/^\.\//, ""), line: line.line, kind: line.kind, ...cutText(line.text, maxLineLength) });
    },
    result() {
      flush();
      return { lines, matches, limitReached };
    },
  };
}

/** Cut at whole characters: code points, not halves of them. */
function cutText(text: string, most: number): Pick<GrepLine, "text" | "cut"> {
  if (text.length <= most) return { text };
  const characters = [...text.slice(0, 2 * most + 1)];
  return characters.length <= most ? { text } : { text: characters.slice(0, most).join(""), cut: true };
}
