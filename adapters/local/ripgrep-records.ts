/** What one record of `rg --json` says, as far as it matters here. */
export type RipgrepRecord =
  | { readonly type: "begin"; readonly path: string }
  | { readonly type: "end"; readonly binary: boolean }
  | { readonly type: "match" | "context"; readonly path: string; readonly line: number; readonly text: string };

/** Longer records are not parsed whole: one line of a minified file can make megabytes. */
const MAX_RECORD_BYTES = 256 * 1024;

const LINE_FEED = 10;

type Text = { readonly text: string } | { readonly bytes: string };

interface Raw {
  readonly type: string;
  readonly data: {
    readonly path?: Text;
    readonly lines?: Text;
    readonly line_number?: number | null;
    readonly binary_offset?: number | null;
  };
}

/** Reads the output of `rg --json` from chunks of bytes. Memory stays bounded whatever a file holds. */
export function createRecordReader(onRecord: (record: RipgrepRecord) => boolean): (chunk: Buffer) => boolean {
  let kept: Buffer[] = [];
  let keptBytes = 0;
  let tail = "";
  let lineNumber: number | undefined;

  /** Of a record that is too long only its beginning is kept, and its line number, which comes after the text. */
  const overflow = (part: Buffer): void => {
    if (lineNumber !== undefined) return;
    if (tail === "") tail = kept.at(-1)?.subarray(-64).toString("latin1") ?? "";
    const text = tail + part.toString("latin1");
    lineNumber = lineNumberIn(text);
    tail = text.slice(-64);
  };
  const add = (part: Buffer): void => {
    const room = MAX_RECORD_BYTES - keptBytes;
    if (room > 0) {
      const head = Buffer.from(part.subarray(0, room));
      kept.push(head);
      keptBytes += head.byteLength;
    }
    if (part.byteLength > room) overflow(part.subarray(Math.max(0, room)));
  };
  const finish = (): RipgrepRecord | undefined => {
    const whole = Buffer.concat(kept).toString("utf8");
    const record = keptBytes < MAX_RECORD_BYTES ? parse(whole) : parseBeginning(whole, lineNumber);
    kept = [];
    keptBytes = 0;
    tail = "";
    lineNumber = undefined;
    return record;
  };

  return (chunk) => {
    let from = 0;
    for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, from)) {
      add(chunk.subarray(from, at));
      from = at + 1;
      const record = finish();
      if (record !== undefined && !onRecord(record)) return false;
    }
    add(chunk.subarray(from));
    return true;
  };
}

function parse(json: string): RipgrepRecord | undefined {
  const { type, data } = JSON.parse(json) as Raw;
  if (type === "begin") return { type, path: textOf(data.path) };
  if (type === "end") return { type, binary: typeof data.binary_offset === "number" };
  if (type !== "match" && type !== "context") return undefined;
  return { type, path: textOf(data.path), line: data.line_number ?? 0, text: textOf(data.lines) };
}

const BEGINNING = /^\{"type":"(match|context)","data":\{"path":(\{"(?:text|bytes)":"[^"\\]*(?:\\.[^"\\]*)*"\}),"lines":\{"(text|bytes)":"/;

/** The line is cut somewhere in the middle, which is far behind where it is cut for the model anyway. */
function parseBeginning(json: string, line: number | undefined): RipgrepRecord | undefined {
  const [opening, type, path, field] = BEGINNING.exec(json) ?? [];
  if (opening === undefined || path === undefined || (type !== "match" && type !== "context")) return undefined;
  const value = json.slice(opening.length);
  const text = field === "bytes" ? textOf({ bytes: value.slice(0, value.length - (value.length % 4) - 4) }) : unfinishedString(value);
  return { type, path: textOf(JSON.parse(path) as Text), line: line ?? lineNumberIn(json) ?? 0, text };
}

/** Inside a JSON string its quotes would have backslashes, so this can only be the field itself. */
function lineNumberIn(json: string): number | undefined {
  const [, digits] = /"line_number":(\d+)[,}]/.exec(json) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** The beginning of a JSON string: an escape may be cut in two at the end. */
function unfinishedString(value: string): string {
  const whole = /^[^"\\]*(?:\\(?:u[0-9a-fA-F]{4}|[^u])[^"\\]*)*/.exec(value.slice(0, -1))?.[0] ?? "";
  return JSON.parse(`"${whole}"`) as string;
}

function textOf(text: Text | undefined): string {
  if (text === undefined) return "";
  return "text" in text ? text.text : Buffer.from(text.bytes, "base64").toString("utf8");
}
