import { escapeLine } from "../text/escape.js";

/** One line for people, on standard error. */
export function say(line: string): void {
  process.stderr.write(`glovebox: ${escapeLine(line)}\n`);
}
