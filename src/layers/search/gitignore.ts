import { compileComponent } from "./component.js";
import { compilePath, type PathPattern } from "./glob.js";

/** What one .gitignore file says of a path, relative to the file's directory. */
type Verdict = "ignored" | "kept" | undefined;

interface Rule {
  readonly verdict: Verdict;
  readonly onlyDirectories: boolean;
  readonly matchesName?: (name: string) => boolean;
  readonly matchesPath?: PathPattern;
}

/** A file that nobody wrote by hand is cut here, and rules of such a length left out: each entry is held against each rule. */
const MAX_RULES = 2_000;
const MAX_RULE_LENGTH = 500;

/**
 * Git's rules: the last one that matches decides, `!` keeps, a slash inside anchors. Only the path itself is asked about:
 * that a directory above is ignored is for the caller to know. `components` is called for anchored rules alone.
 */
export function parseGitignore(text: string): (name: string, components: () => readonly string[], directory: boolean) => Verdict {
  const rules = text
    .split(/\r?\n/)
    .map(parseRule)
    .filter((rule) => rule !== undefined)
    .slice(0, MAX_RULES)
    .reverse();
  return (name, components, directory) => {
    for (const { verdict, onlyDirectories, matchesName, matchesPath } of rules) {
      if (onlyDirectories && !directory) continue;
      if (matchesName?.(name) ?? matchesPath?.(components())) return verdict;
    }
    return undefined;
  };
}

function parseRule(line: string): Rule | undefined {
  if (line.startsWith("#") || line.length > MAX_RULE_LENGTH) return undefined;
  const trimmed = line.replace(/((?:\\.|[^\\])*?)[ ]*$/, "$1");
  const verdict = trimmed.startsWith("!") ? "kept" : "ignored";
  const pattern = verdict === "kept" ? trimmed.slice(1) : trimmed;
  const onlyDirectories = pattern.endsWith("/");
  const body = onlyDirectories ? pattern.slice(0, -1) : pattern;
  if (body === "") return undefined;
  if (!body.includes("/")) return { verdict, onlyDirectories, matchesName: compileComponent(body) };
  return { verdict, onlyDirectories, matchesPath: compilePath(body.replace(/^\//, "")) };
}
