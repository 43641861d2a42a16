import { foldSpaces } from "../text/fold.js";

/**
 * What a model may have meant by a name that does not exist, likeliest first: one stray leading `@` dropped, `file://`
 * stripped, `~/` as the target's home, Unicode spaces folded, and these together. Never the name itself, never empty.
 */
export function pathRepairs(path: string, home?: string): readonly string[] {
  const repairs: readonly ((path: string) => string)[] = [
    (name) => (name.startsWith("@") ? name.slice(1) : name),
    (name) => (name.startsWith("file://") ? name.slice("file://".length) : name),
    (name) => (home !== undefined && (name === "~" || name.startsWith("~/")) ? home + name.slice(1) : name),
    foldSpaces,
  ];
  let names: readonly string[] = [path];
  for (const repair of repairs) names = [...new Set([...names, ...names.map(repair)])];
  return names.filter((name) => name !== path && name !== "");
}
