import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { GloveboxError } from "../../contract/errors.js";
import { type SeedLimits, tooLarge } from "./archive-members.js";

export type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** What is known of an archive's bytes so far. */
export interface ByteCount {
  /** Zero bytes at the end of what came. */
  trailingZeros: number;
  /** Bytes since somebody last set it to 0. */
  sinceMember: number;
}

const PIECE = 64 * 1024;
const RATIO_FROM_BYTES = 10 * 1024 ** 2;
/** What may stand between two members: long names and extended headers, and the zeros at the end. */
const MAX_BETWEEN_BYTES = 2 * 1024 ** 2;

/** An archive's bytes, unpacked if they are gzip's, in small pieces, counted and bounded. */
export async function* archiveBytes(
  source: Bytes,
  { maxBytes, maxRatio }: Required<SeedLimits>,
  count: ByteCount,
): AsyncGenerator<Uint8Array> {
  const packed = { bytes: 0 };
  let unpacked = 0;
  for await (const chunk of await unzipped(counted(source, packed))) {
    for (let at = 0; at < chunk.byteLength; at += PIECE) {
      const piece = chunk.subarray(at, at + PIECE);
      unpacked += piece.byteLength;
      if (unpacked > maxBytes) throw tooLarge(`has more than ${maxBytes} bytes when unpacked`, "maxBytes", maxBytes);
      if (unpacked > RATIO_FROM_BYTES && unpacked > packed.bytes * maxRatio) {
        throw tooLarge(`unpacks to more than ${maxRatio} times its size, as a bomb does`, "maxRatio", maxRatio);
      }
      count.sinceMember += piece.byteLength;
      if (count.sinceMember > MAX_BETWEEN_BYTES)
        throw tooLarge("has headers of more than 2 MiB for one member", "maxPathBytes", MAX_BETWEEN_BYTES);
      count.trailingZeros = zerosAfter(piece, count.trailingZeros);
      yield piece;
    }
  }
}

async function* counted(source: Bytes, packed: { bytes: number }): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    packed.bytes += chunk.byteLength;
    yield chunk;
  }
}

async function unzipped(source: AsyncGenerator<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  let head = new Uint8Array();
  while (head.byteLength < 2) {
    const next = await source.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  const whole = prepended(head, source);
  if (head[0] !== 0x1f || head[1] !== 0x8b) return whole;
  const gunzip = createGunzip();
  // Its error is told to whoever reads it.
  pipeline(whole, gunzip, () => undefined);
  return readingGzip(gunzip);
}

async function* prepended(head: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield head;
  yield* rest;
}

async function* readingGzip(gunzip: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* gunzip;
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (typeof code !== "string" || !code.startsWith("Z_")) throw error;
    throw new GloveboxError("invalid_argument", "The seed is refused: its gzip data is damaged or cut short. Make the archive again.", {
      retrySafe: true,
      cause: error,
    });
  }
}

/** How many zeros end a piece that comes after so many. */
export function zerosAfter(piece: Uint8Array, before: number): number {
  let at = piece.byteLength;
  while (at > 0 && piece[at - 1] === 0) at -= 1;
  return at === 0 ? before + piece.byteLength : piece.byteLength - at;
}
