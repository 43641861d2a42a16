/* C0, DEL, C1; bidirectional marks, embeddings and isolates; line and paragraph separators; halves of surrogate pairs. */
const CONTROLS = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Surrogate}]/gu;

/**
 * Makes a text safe to show to a person: every character that could move a cursor, recolour, hide or reorder what they see
 * is written out (`\x1b`, `\u202e`). Line feeds and tabs stay; a carriage return before a line feed is dropped.
 */
export function escapeControls(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(CONTROLS, (character) => (character === "\n" || character === "\t" ? character : escaped(character)));
}

/** The same, on one line: line feeds and tabs are written out too. */
export function escapeLine(text: string): string {
  return text.replace(CONTROLS, escaped);
}

/**
 * A name as one unambiguous word of a line: as it is, or as a JSON string when it holds a control character, begins with a quote,
 * begins or ends with a blank, is empty, or matches `alsoQuoted` (what would read as the line's own marks).
 */
export function quoteName(name: string, alsoQuoted?: RegExp): string {
  const plain = name !== "" && !/^["\s]|\s$/.test(name) && name.search(CONTROLS) === -1 && alsoQuoted?.test(name) !== true;
  return plain ? name : jsonQuote(name);
}

/** A JSON string in which every control character is written out. */
export function jsonQuote(text: string): string {
  return JSON.stringify(text).replace(CONTROLS, (character) => `\\u${hex(character, 4)}`);
}

function escaped(character: string): string {
  const named = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }[character];
  return named ?? (character.charCodeAt(0) > 0xff ? `\\u${hex(character, 4)}` : `\\x${hex(character, 2)}`);
}

function hex(character: string, digits: number): string {
  return character.charCodeAt(0).toString(16).padStart(digits, "0");
}
