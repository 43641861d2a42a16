import { heldBack } from "./frame-reader.js";

export type OutputPiece = { readonly kind: "words"; readonly words: string } | { readonly kind: "output"; readonly data: Buffer };

/** Longer words are not ours. */
const MAX_WORDS_BYTES = 64 * 1024;

/**
 * Takes one stream of a spare shell apart: noise, MARKER words MARKER, output, MARKER words MARKER, noise. Only bytes that
 * could be the beginning of a marker are held back.
 */
export function outputSplitter(marker: Buffer): (chunk: Buffer) => readonly OutputPiece[] {
  let rest: Buffer = Buffer.alloc(0);
  let markers = 0;
  let words = "";
  return (chunk) => {
    const pieces: OutputPiece[] = [];
    rest = rest.byteLength === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.byteLength > 0) {
      const at = markers < 4 ? rest.indexOf(marker) : -1;
      const end = at !== -1 ? at : rest.byteLength - (markers < 4 ? heldBack(rest, marker) : 0);
      if (markers === 2 && end > 0) pieces.push({ kind: "output", data: rest.subarray(0, end) });
      if (markers % 2 === 1 && words.length < MAX_WORDS_BYTES) words += rest.toString("utf8", 0, end);
      rest = rest.subarray(at === -1 ? end : end + marker.byteLength);
      if (at === -1) break;
      markers += 1;
      if (markers % 2 === 1) words = "";
      else pieces.push({ kind: "words", words });
    }
    return pieces;
  };
}
