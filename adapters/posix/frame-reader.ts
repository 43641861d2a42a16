import type { Frame } from "./lane.js";

export interface ExpectedReply {
  readonly marker: Buffer;
  readonly maxBytes: number;
  /** What comes before the first marker is no answer of ours, but a login shell's greeting. */
  readonly skipNoise: boolean;
  onBody?(chunk: Buffer): void;
  onFrame(frame: Frame): void;
}

/** Words after which another frame of the same answer follows. */
const CONTINUED = /^(?:again|part)\b/;
const MAX_FIELDS_BYTES = 64 * 1024;
const MAX_NOISE_BYTES = 1024 * 1024;

export type Breach = "out of step" | "too long";

/**
 * Takes a stream apart into the frames of the answers that are due: marker, body, marker, fields, marker. Each answer has
 * a marker of its own, so a body can hold anything. Returns the function that takes chunks and says when the stream
 * breaks the rules; `next` is asked for the answer that is due, and told when it is complete.
 */
export function frameReader(next: { due(): ExpectedReply | undefined; complete(): void }): (chunk: Buffer) => Breach | undefined {
  let rest: Buffer = Buffer.alloc(0);
  let state: "before" | "body" | "fields" = "before";
  let body: Buffer[] = [];
  let bytes = 0;

  const keep = (reply: ExpectedReply, chunk: Buffer): void => {
    bytes += chunk.byteLength;
    if (chunk.byteLength === 0) return;
    if (reply.onBody) reply.onBody(chunk);
    else body.push(chunk);
  };

  /** True when it took a step; false when it needs more; a breach when it will never do. */
  const step = (reply: ExpectedReply): boolean | Breach => {
    const { marker } = reply;
    const at = rest.indexOf(marker);
    if (state === "before") {
      if (at === -1) {
        if (reply.skipNoise) return rest.byteLength > MAX_NOISE_BYTES ? "too long" : false;
        return rest.byteLength >= marker.byteLength || !isPrefix(rest, marker) ? "out of step" : false;
      }
      if (at > 0 && !reply.skipNoise) return "out of step";
      rest = rest.subarray(at + marker.byteLength);
      state = "body";
      return true;
    }
    if (state === "body") {
      const end = at === -1 ? rest.byteLength - heldBack(rest, marker) : at;
      keep(reply, rest.subarray(0, end));
      rest = rest.subarray(at === -1 ? end : end + marker.byteLength);
      if (bytes > reply.maxBytes) return "too long";
      if (at !== -1) state = "fields";
      return at !== -1;
    }
    if (at === -1) return rest.byteLength > MAX_FIELDS_BYTES ? "too long" : false;
    const fields = Buffer.from(rest.subarray(0, at));
    rest = rest.subarray(at + marker.byteLength);
    state = "before";
    reply.onFrame({ body: Buffer.concat(body), fields });
    body = [];
    if (!CONTINUED.test(fields.toString("latin1", 0, 8))) {
      bytes = 0;
      next.complete();
    }
    return true;
  };

  return (chunk) => {
    rest = rest.byteLength === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const reply = next.due();
      if (reply === undefined) return rest.byteLength === 0 ? undefined : "out of step";
      const took = step(reply);
      if (took === false) return undefined;
      if (took !== true) return took;
    }
  };
}

/** How many bytes at the end of `data` could be the beginning of `marker`. */
export function heldBack(data: Buffer, marker: Buffer): number {
  for (let length = Math.min(marker.byteLength - 1, data.byteLength); length > 0; length -= 1) {
    if (data[data.byteLength - length] === marker[0] && data.subarray(data.byteLength - length).equals(marker.subarray(0, length)))
      return length;
  }
  return 0;
}

function isPrefix(data: Buffer, marker: Buffer): boolean {
  return data.equals(marker.subarray(0, data.byteLength));
}
