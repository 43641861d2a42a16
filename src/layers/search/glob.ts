import { GloveboxError } from "../../contract/errors.js";
import { braceAlternatives } from "./braces.js";
import { compileComponent } from "./component.js";
import type { Walked } from "./place.js";
import { MANY, matchesSequence, type Sequence } from "./sequence.js";

/** Matches the components of a path. Takes time in proportion to pattern times path, whatever they are. */
export type PathPattern = (components: readonly string[]) => boolean;

/** `*`, `?`, `[…]` within a component, `**` for any number of components (at the end: one or more). No braces. */
export function compilePath(pattern: string): PathPattern {
  const parts = pattern.split("/");
  const sequence = parts.flatMap((part, index): Sequence<string> => {
    if (part !== "**") return [compileComponent(part)];
    return index === parts.length - 1 ? [MANY, () => true] : [MANY];
  });
  return (components) => matchesSequence(sequence, components);
}

/**
 * What `find` and the `glob` of `grep` take: `compilePath` and `{a,b}`. Without a slash it is for names at any depth, with
 * one it is anchored at the search root, which a leading `./` or `/` says too; a slash at the end asks for directories.
 * Throws `invalid_argument` for a glob that names nothing or has too many alternatives.
 */
export function compileGlob(glob: string): (walked: Walked) => boolean {
  const trimmed = glob.replace(/\/+$/, "");
  const anchored = trimmed.replace(/^(?:\.?\/)+/, "");
  if (anchored === "" || anchored === ".") throw badGlob(glob, "names nothing");
  const alternatives = braceAlternatives(anchored);
  if (alternatives === undefined) throw badGlob(glob, "has too many alternatives in braces");
  const patterns = alternatives.map(compilePath);
  const onlyDirectories = trimmed !== glob;
  const byName = !trimmed.includes("/");
  return ({ path, kind }) => {
    if (onlyDirectories && kind !== "directory") return false;
    const components = byName ? [path.slice(path.lastIndexOf("/") + 1)] : path.split("/");
    return patterns.some((matches) => matches(components));
  };
}

function badGlob(glob: string, why: string): GloveboxError {
  return new GloveboxError(
    "invalid_argument",
    `The glob ${JSON.stringify(glob)} ${why}. Use *, ?, [abc], {a,b} and **, as in "src/**/*.ts".`,
    {
      retrySafe: true,
    },
  );
}
