import { GloveboxError } from "../../src/contract/errors.js";

/** A dot would not match a line feed in Emacs' dialect. */
const ANY_DEPTH = "\\([^/]*/\\)*";

/**
 * A glob as a basic regular expression over paths that begin with `./`, for `find -regex`: in words that find's own
 * dialect (Emacs) and POSIX's basic one understand alike. `*`, `?`, `[…]`, `{a,b}` and `**`, as in the other searches:
 * without a slash it is for names at any depth, with one it is anchored. Throws `invalid_argument`.
 */
export function globRegex(pattern: string): { readonly regex: string; readonly onlyDirectories: boolean } {
  const trimmed = pattern.replace(/\/+$/, "");
  const anchored = trimmed.replace(/^(?:\.?\/)+/, "");
  if (anchored === "") throw badGlob(pattern, "it names nothing");
  const prefix = trimmed.includes("/") ? "\\./" : `\\./${ANY_DEPTH}`;
  return { regex: prefix + translate(anchored, pattern), onlyDirectories: trimmed !== pattern };
}

function translate(glob: string, whole: string): string {
  let regex = "";
  let depth = 0;
  for (let at = 0; at < glob.length; at += 1) {
    const rest = glob.slice(at);
    const character = glob[at] ?? "";
    const begins = at === 0 || glob[at - 1] === "/";
    if (begins && rest.startsWith("**/")) {
      regex += ANY_DEPTH;
      at += 2;
    } else if (begins && rest === "**") {
      regex += `${ANY_DEPTH}[^/]*`;
      at += 1;
    } else if (character === "*") {
      regex += "[^/]*";
      while (glob[at + 1] === "*") at += 1;
    } else if (character === "?") {
      regex += "[^/]";
    } else if (character === "[") {
      const set = /^\[([!^]?)(\]?[^\]]*)\]/.exec(rest);
      if (set === null) throw badGlob(whole, "a bracket is not closed");
      regex += `[${set[1] === "" ? "" : "^"}${set[2]}]`;
      at += set[0].length - 1;
    } else if (character === "{") {
      depth += 1;
      regex += "\\(";
    } else if (character === "}" && depth > 0) {
      depth -= 1;
      regex += "\\)";
    } else if (character === "," && depth > 0) {
      regex += "\\|";
    } else if (character === "\\" && at + 1 < glob.length) {
      at += 1;
      regex += literal(glob[at] ?? "");
    } else {
      regex += literal(character);
    }
  }
  if (depth > 0) throw badGlob(whole, "a brace is not closed");
  return regex;
}

/** Characters with a meaning stand in brackets, where both dialects take them as they are. */
function literal(character: string): string {
  if (/[.[*+?$]/.test(character)) return `[${character}]`;
  return character === "^" || character === "\\" ? `\\${character}` : character;
}

export function badGlob(pattern: string, why: string): GloveboxError {
  return new GloveboxError(
    "invalid_argument",
    `${JSON.stringify(pattern)} is not a glob: ${why}. Use *, ?, [abc], {a,b} and **, as in "src/**/*.ts".`,
    {
      retrySafe: true,
    },
  );
}
