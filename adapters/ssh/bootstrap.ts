import { quote } from "../posix/quote.js";

/**
 * What the login shell is asked to run, whatever shell that is: no backslash, no line break, no exclamation mark, nothing
 * that fish or csh read differently. What to do follows as the first line of standard input, for a POSIX sh to read.
 */
export const BOOTSTRAP = `exec /bin/sh -c 'IFS= read -r l && eval "$l"'`;

/** A line feed in a line: the value of a variable. */
const LINE_FEED = `n=$(printf '\\012_'); n=\${n%_};`;

/** The line that becomes this argument vector. */
export function execLine(argv: readonly string[]): string {
  return `${LINE_FEED} exec ${argv.map(word).join(" ")}`;
}

/** The line that runs this script, which does not show in the target's process list then. */
export function scriptLine(script: string): string {
  return `${LINE_FEED} eval ${word(script)}`;
}

function word(text: string): string {
  return quote(text).replaceAll("\n", `'"$n"'`);
}
