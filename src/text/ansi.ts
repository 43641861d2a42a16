export type Colour = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

const CODES: Readonly<Record<Colour, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
};

/** Colours a text that is already escaped, line by line, where `ansi` is true; else gives it back. */
export function paint(text: string, colour: Colour, ansi: boolean): string {
  if (!ansi || text === "") return text;
  const [on, off] = CODES[colour];
  return text
    .split("\n")
    .map((line) => (line === "" ? line : `\x1b[${on}m${line}\x1b[${off}m`))
    .join("\n");
}
