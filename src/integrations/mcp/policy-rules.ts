import picomatch from "picomatch";
import type { Decision, Policy, PolicyRule } from "./policy.js";
import { baseName, commandStarts, type SimpleCommand } from "./shell-commands.js";

/** What the rules say: the verdict, and the reason of the rule that gave it. */
export interface Ruling {
  readonly decision: Decision;
  readonly reason?: string;
}

/** A part of a call that is judged by itself. */
export type Subject =
  | { readonly kind: "call" }
  | { readonly kind: "command"; readonly command: SimpleCommand }
  /** One file under all the names by which it may be reached: absolute, canonical. `undefined`: cannot be told. */
  | { readonly kind: "path"; readonly paths: readonly string[] | undefined; readonly cwd: string };

const STRENGTH: Readonly<Record<Decision, number>> = { allow: 0, ask: 1, deny: 2 };

/** The stricter of the two; of equals, the first. */
export function stricter(one: Ruling, other: Ruling): Ruling {
  return STRENGTH[other.decision] > STRENGTH[one.decision] ? other : one;
}

/**
 * The first rule that matches decides. Where it is not certain whether a rule matches (a command name that only the shell
 * will know, a path that may be repaired), an allowing one does not, and a refusing one makes it a question at least.
 */
export function judge(policy: Policy, call: { readonly tool: string; readonly target: string }, subject: Subject): Ruling {
  let floor: Ruling = { decision: "allow" };
  for (const rule of policy.rules) {
    if (rule.tools !== undefined && !rule.tools.includes(call.tool)) continue;
    if (rule.targets !== undefined && !rule.targets.includes(call.target)) continue;
    const match = matches(rule, subject);
    if (match === "yes") return stricter(floor, toRuling(rule));
    if (match === "perhaps") floor = stricter(floor, { ...toRuling(rule), decision: "ask" });
  }
  return stricter(floor, { decision: policy.default ?? "ask" });
}

function toRuling({ decision, reason }: PolicyRule): Ruling {
  return { decision, ...(reason === undefined ? {} : { reason }) };
}

type Match = "yes" | "no" | "perhaps";

function matches(rule: PolicyRule, subject: Subject): Match {
  const allows = rule.decision === "allow";
  if (rule.commands !== undefined) {
    if (subject.kind !== "command") return "no";
    const prefixes = rule.commands.map((command) => command.trim().split(/ +/));
    return allows ? allowedBy(prefixes, subject.command) : caughtBy(prefixes, subject.command);
  }
  if (rule.paths === undefined) return "yes";
  if (subject.kind !== "path") return "no";
  const { paths, cwd } = subject;
  if (paths === undefined) return allows ? "no" : "perhaps";
  const globs = rule.paths;
  const hit = (path: string): boolean => globs.some((glob) => covers(glob, path, cwd));
  return (allows ? paths.every(hit) : paths.some(hit)) ? "yes" : "no";
}

/** Allowed is only what is exactly what the rule names: the words as written, no variables set, no file written. */
function allowedBy(prefixes: readonly (readonly string[])[], { words, assigns, writes }: SimpleCommand): Match {
  if (assigns || writes) return "no";
  return prefixes.some((prefix) => startsWith(words, prefix, (word) => word)) ? "yes" : "no";
}

/** Caught is what may be what the rule names: under a path, behind a program that runs it, or under a name not known yet. */
function caughtBy(prefixes: readonly (readonly string[])[], { words }: SimpleCommand): Match {
  const [name] = words;
  if (words.length === 0) return "no";
  if (name === undefined) return "perhaps";
  const starts = commandStarts(words);
  if (starts.some((start) => prefixes.some((prefix) => startsWith(words.slice(start), prefix, baseName)))) return "yes";
  const unsure = starts.some((start) => prefixes.some((prefix) => mayStartWith(words.slice(start), prefix)));
  return unsure ? "perhaps" : "no";
}

function startsWith(words: SimpleCommand["words"], prefix: readonly string[], asName: (word: string) => string): boolean {
  return prefix.every((part, index) => {
    const word = words[index];
    return word !== undefined && (index === 0 ? asName(word) : word) === part;
  });
}

/** Whether words that are not known yet could make it begin so. */
function mayStartWith(words: SimpleCommand["words"], prefix: readonly string[]): boolean {
  for (const [index, part] of prefix.entries()) {
    if (index >= words.length) return false;
    const word = words[index];
    // An expansion can become any number of words, so that nothing is certain from there on.
    if (word === undefined) return true;
    if ((index === 0 ? baseName(word) : word) !== part) return false;
  }
  return true;
}

const matchers = new Map<string, (path: string) => boolean>();

/** Whether the glob is about that absolute path or a directory that it is in. */
function covers(glob: string, path: string, cwd: string): boolean {
  const matcher = matchers.get(glob) ?? picomatch(glob.replace(/^\.\//, "").replace(/(.)\/$/, "$1"), { dot: true });
  matchers.set(glob, matcher);
  const base = cwd === "/" ? "/" : `${cwd}/`;
  if (glob.startsWith("/")) return ancestors(path, "/").some((name) => matcher(name));
  const anyDepth = !glob.replace(/^\.\//, "").replace(/\/$/, "").includes("/");
  if (anyDepth) return path.split("/").some((part) => part !== "" && matcher(part));
  return path.startsWith(base) && ancestors(path, base).some((name) => matcher(name.slice(base.length)));
}

/** The path itself and every directory above it, below `base`. */
function ancestors(path: string, base: string): readonly string[] {
  const found: string[] = [];
  for (let name = path; name.length > base.length; name = name.slice(0, name.lastIndexOf("/"))) found.push(name);
  return base === "/" && path === "/" ? ["/"] : found;
}
