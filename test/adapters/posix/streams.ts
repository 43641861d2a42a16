import fc from "fast-check";

export const markers = fc
  .array(fc.constantFrom(..."0123456789abcdef"), { minLength: 32, maxLength: 32 })
  .map((digits) => `M${digits.join("")}`);

/** Bytes with pieces of these texts in them, whole and cut. */
export function hostile(texts: readonly string[]): fc.Arbitrary<Buffer> {
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
    ...(texts.length === 0
      ? []
      : [fc.constantFrom(...texts).chain((text) => fc.nat(text.length).map((length) => Buffer.from(text.slice(0, length))))]),
    ...(texts.length === 0 ? [] : [fc.constantFrom(...texts).map((text) => Buffer.from(text.slice(0, -1)))]),
  );
  return fc.array(piece, { maxLength: 12 }).map((pieces) => Buffer.concat(pieces));
}

export const chunks = fc.array(fc.integer({ min: 1, max: 70 }), { minLength: 1, maxLength: 20 });

/** `bytes` in pieces of these sizes, over and over. */
export function chunked(bytes: Buffer, sizes: readonly number[]): readonly Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.byteLength; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}
