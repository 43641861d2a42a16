import { type Duplex, Readable } from "node:stream";

/** How the engine's stream came to its end: "cut" when it broke off, inside a frame or with an error. */
export type StreamEnd = "complete" | "cut";

export interface Demultiplexed {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Settles once the stream is over and all of it was handed on. Never rejects. */
  readonly ended: Promise<StreamEnd>;
}

export interface DemultiplexOptions {
  /**
   * Told a line that is all the stream had, and that the engine may have written itself, in place of a process that did not
   * start. Resolves to whether it is output after all. Must not reject.
   */
  isOutput(line: string): Promise<boolean>;
}

const HEADER_BYTES = 8;
/** A frame of the engine holds at most 32 KiB; a length beyond this means that the stream is not what it should be. */
const MAX_FRAME_BYTES = 64 * 1024 * 1024;
/** The engine's reports of a failed start are shorter, end in CR LF, and the end of the stream follows at once. */
const MAX_REPORT_BYTES = 8 * 1024;
const MAX_HOLD_MS = 250;
const HIGH_WATER_MARK = 64 * 1024;

/**
 * Takes the engine's frames (one byte for the stream, three zeros, a big-endian length, the bytes) apart without copying
 * the bytes, and stops reading while stdout or stderr is not read. What is pushed is part of the chunk that arrived.
 */
export function demultiplex(source: Duplex, { isOutput }: DemultiplexOptions): Demultiplexed {
  const full = new Set<Readable>();
  const stdout = output();
  const stderr = output();
  const header = Buffer.alloc(HEADER_BYTES);
  let headerBytes = 0;
  let frameBytes = 0;
  let current = stdout;
  let broken = false;
  let frames = 0;
  let held: Buffer[] | undefined;
  let holdTimer: NodeJS.Timeout | undefined;

  function output(): Readable {
    const readable: Readable = new Readable({ highWaterMark: HIGH_WATER_MARK, read: () => release(readable) });
    readable.on("error", () => undefined);
    // What nobody reads any more must not hold back the other stream.
    readable.on("close", () => release(readable));
    return readable;
  }

  function release(readable: Readable): void {
    if (full.delete(readable) && full.size === 0) source.resume();
  }

  function push(readable: Readable, bytes: Buffer): void {
    if (readable.destroyed || readable.push(bytes)) return;
    full.add(readable);
    source.pause();
  }

  function take(chunk: Buffer): void {
    let offset = 0;
    while (offset < chunk.length && !broken) {
      const wanted = frameBytes > 0 ? frameBytes : HEADER_BYTES - headerBytes;
      const part = chunk.subarray(offset, offset + wanted);
      offset += part.length;
      if (frameBytes > 0) takePayload(part);
      else {
        headerBytes += part.copy(header, headerBytes);
        if (headerBytes === HEADER_BYTES) beginFrame();
      }
    }
  }

  function beginFrame(): void {
    headerBytes = 0;
    frames += 1;
    const stream = header[0];
    frameBytes = header.readUInt32BE(4);
    if ((stream !== 1 && stream !== 2) || frameBytes > MAX_FRAME_BYTES) {
      broken = true;
      source.destroy();
      return;
    }
    current = stream === 1 ? stdout : stderr;
    if (frames === 1 && current === stdout && frameBytes <= MAX_REPORT_BYTES) held = [];
    else letGo();
  }

  function takePayload(part: Buffer): void {
    frameBytes -= part.length;
    if (held === undefined) {
      push(current, part);
      return;
    }
    held.push(part);
    if (frameBytes > 0) return;
    if (part.at(-1) === 0x0a && Buffer.concat(held).at(-2) === 0x0d) holdTimer = setTimeout(letGo, MAX_HOLD_MS);
    else letGo();
  }

  function letGo(): void {
    clearTimeout(holdTimer);
    const parts = held ?? [];
    held = undefined;
    for (const part of parts) push(stdout, part);
  }

  async function finish(end: StreamEnd): Promise<StreamEnd> {
    clearTimeout(holdTimer);
    const report = held === undefined ? "" : Buffer.concat(held).toString().trim();
    if (report !== "" && !(await isOutput(report))) held = undefined;
    letGo();
    for (const readable of [stdout, stderr]) if (!readable.destroyed) readable.push(null);
    return end;
  }

  const ended = new Promise<StreamEnd>((resolve) => {
    source.on("data", take);
    source.on("end", () => resolve(broken || headerBytes > 0 || frameBytes > 0 ? "cut" : "complete"));
    source.on("error", () => {
      broken = true;
    });
    source.on("close", () => resolve("cut"));
  });
  return { stdout, stderr, ended: ended.then(finish) };
}
