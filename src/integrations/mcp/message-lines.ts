/** What came between two line feeds. */
export type MessageLine =
  | { readonly kind: "line"; readonly text: string }
  /** Longer than allowed: only how it began and ended is known. */
  | { readonly kind: "too_long"; readonly head: string; readonly tail: string };

/** Bytes of a line that is too long which are kept, at either end: enough to find the request's id. */
const KEPT_BYTES = 4096;

/**
 * Splits a stream into lines of at most `maxBytes`. A longer line costs no memory and loses nothing but itself: the next
 * one is read as if nothing had been.
 */
export function createLineSplitter(maxBytes: number): (chunk: Buffer) => readonly MessageLine[] {
  let parts: Buffer[] = [];
  let bytes = 0;
  let dropped: { readonly head: string; tail: Buffer } | undefined;

  const add = (part: Buffer): void => {
    bytes += part.length;
    if (dropped !== undefined) {
      dropped.tail = Buffer.concat([dropped.tail, part]).subarray(-KEPT_BYTES);
      return;
    }
    parts.push(part);
    if (bytes <= maxBytes) return;
    const all = Buffer.concat(parts);
    dropped = { head: all.toString("utf8", 0, KEPT_BYTES), tail: Buffer.from(all.subarray(-KEPT_BYTES)) };
    parts = [];
  };
  const end = (): MessageLine => {
    const line: MessageLine =
      dropped === undefined
        ? { kind: "line", text: Buffer.concat(parts).toString("utf8").replace(/\r$/, "") }
        : { kind: "too_long", head: dropped.head, tail: dropped.tail.toString("utf8") };
    parts = [];
    bytes = 0;
    dropped = undefined;
    return line;
  };

  return (chunk) => {
    const lines: MessageLine[] = [];
    let start = 0;
    for (let feed = chunk.indexOf(10); feed !== -1; feed = chunk.indexOf(10, start)) {
      add(chunk.subarray(start, feed));
      lines.push(end());
      start = feed + 1;
    }
    if (start < chunk.length) add(chunk.subarray(start));
    return lines;
  };
}

/** The id of a request of which only the ends are known: clients write it first or last. */
export function findRequestId(head: string, tail: string): string | number | undefined {
  const id = String.raw`"id"\s*:\s*("(?:[^"\\]|\\.){0,200}"|-?\d{1,15})`;
  const first = new RegExp(String.raw`^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?(?:"method"\s*:\s*"[\w/]{1,100}"\s*,\s*)?${id}\s*,`);
  const last = new RegExp(String.raw`,\s*${id}\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`);
  const found = (first.exec(head) ?? last.exec(tail))?.[1];
  return found === undefined ? undefined : (JSON.parse(found) as string | number);
}
