import { type Assignment, type Command, forEachChild, parse, type Redirect, type SyntaxNode, type Word } from "unbash";

/** One command of a script, as it would run. */
export interface SimpleCommand {
  /** Its words, quotes removed; undefined where only running the script tells: expansions, globs, tildes. */
  readonly words: readonly (string | undefined)[];
  /** It sets variables, for itself or for what follows. */
  readonly assigns: boolean;
  /** It writes to a file by a redirection, other than /dev/null. */
  readonly writes: boolean;
}

/** What shell will run the script: what is not sh means the same only in bash. */
export type Dialect = "bash" | "sh";

export type Parsed =
  | { readonly ok: true; readonly commands: readonly SimpleCommand[] }
  /** `why` completes "it ...". */
  | { readonly ok: false; readonly why: string };

const MAX_SCRIPT_CHARACTERS = 100_000;
const MAX_DEPTH = 8;

/** What every POSIX shell understands alike. */
const COMMON = new Set(
  "Script Statement CompoundList Pipeline AndOr Negation Time Command Subshell BraceGroup If Elif For While Case CaseItem Redirected Redirect FileDescriptor HereDoc HereDocDelimiter HereDocBody Assignment Word Literal SingleQuoted DoubleQuoted Glob SimpleExpansion ParameterExpansion Default Remove CommandExpansion ArithmeticExpansion ArithmeticBinary ArithmeticUnary ArithmeticTernary ArithmeticGroup ArithmeticWord ArithmeticCommandExpansion BraceExpansion".split(
    " ",
  ),
);
/**
 * What bash has beyond that. Left out: extended globs, since whether they are on is not known, and `((…))`, which becomes
 * a subshell where it does not read as arithmetic.
 */
const BASH = new Set(
  "Function TestCommand TestUnary TestBinary TestLogical TestNot TestGroup Select HereString ProcessSubstitution AnsiCQuoted LocaleString ArrayValue Replace Slice CaseModification Transform Names FileDescriptorVariable".split(
    " ",
  ),
);

/**
 * Every command that running the script can start by its own text, however nested: in pipelines, lists, loops,
 * substitutions, here-documents, `sh -c '…'`, `eval '…'`. Refuses what does not parse, what its shell may read otherwise,
 * and what is too long or too deep. A command that interprets what it reads (a script, xargs, find -exec) is named, and
 * what it starts is not.
 */
export function parseCommands(script: string, dialect: Dialect, depth = 0): Parsed {
  if (script.length > MAX_SCRIPT_CHARACTERS) return { ok: false, why: "is too long to be judged" };
  if (depth > MAX_DEPTH) return { ok: false, why: "nests scripts in scripts too deeply to be judged" };
  const commands: SimpleCommand[] = [];
  let why: string | undefined;
  const visit = (node: SyntaxNode): void => {
    if (why !== undefined) return;
    why = objection(node, dialect);
    if (why !== undefined) return;
    if (node.type === "Redirected" && node.redirects.some((part) => part.type === "Redirect" && writesFile(part))) {
      commands.push({ words: [], assigns: false, writes: true });
    }
    if (node.type === "Command") {
      const command = toSimpleCommand(node);
      commands.push(command);
      const inner = innerScript(command.words);
      if (inner === "unknown") commands.push({ words: [undefined], assigns: false, writes: false });
      else if (inner !== undefined) {
        const parsed = parseCommands(inner.script, inner.dialect ?? dialect, depth + 1);
        if (parsed.ok) commands.push(...parsed.commands);
        else why = parsed.why;
      }
    }
    forEachChild(node, visit);
  };
  try {
    visit(parse(script));
  } catch {
    why = "cannot be parsed";
  }
  return why === undefined ? { ok: true, commands } : { ok: false, why };
}

function objection(node: SyntaxNode, dialect: Dialect): string | undefined {
  if (node.type === "Script" && (node.errors?.length ?? 0) > 0) return `cannot be parsed: ${node.errors?.[0]?.message ?? "syntax error"}`;
  if (node.type === "ArithmeticExpansion" && !/^\$\(\([\w \t$+*/%-]*\)\)$/.test(node.text))
    return "holds arithmetic that may be read as commands";
  if (node.type === "HereDocDelimiter" && !/^(\w+|'\w+'|"\w+"|\\\w+)$/.test(node.text))
    return "holds a here-document whose end is hard to tell";
  if (COMMON.has(node.type)) return undefined;
  if (BASH.has(node.type))
    return dialect === "bash" ? undefined : `holds what only bash understands (${node.type}), and the target's shell may be another`;
  return `holds what cannot be judged (${node.type})`;
}

function toSimpleCommand({ name, prefix, suffix }: Command): SimpleCommand {
  const words = [name, ...suffix].flatMap((part) =>
    part?.type === "Word" ? [literalOf(part)] : part?.type === "Assignment" ? [undefined] : [],
  );
  const parts: readonly (Command["prefix"] | Command["suffix"])[number][] = [...prefix, ...suffix];
  return {
    words,
    assigns: prefix.some((part): part is Assignment => part.type === "Assignment"),
    writes: parts.some((part) => part.type === "Redirect" && writesFile(part)),
  };
}

/** The word as the command gets it, if that is certain. */
function literalOf(word: Word): string | undefined {
  const certain = (word.parts ?? []).every(
    (part) =>
      part.type === "Literal" ||
      part.type === "SingleQuoted" ||
      part.type === "AnsiCQuoted" ||
      ((part.type === "DoubleQuoted" || part.type === "LocaleString") && part.parts.every((inner) => inner.type === "Literal")),
  );
  // An unquoted tilde at the start becomes a home directory; so may one after a colon or an equals sign.
  return certain && !/(^|[:=])~/.test(word.text) ? word.value : undefined;
}

function writesFile({ operator, target }: Redirect): boolean {
  if (operator === "<" || operator === "<&") return false;
  const to = target === undefined ? undefined : literalOf(target);
  if (operator === ">&" && to !== undefined && /^(\d+|-|\d+-)$/.test(to)) return false;
  return to !== "/dev/null";
}

const SHELLS: ReadonlyMap<string, Dialect> = new Map([
  ["sh", "sh"],
  ["dash", "sh"],
  ["ash", "sh"],
  ["ksh", "sh"],
  ["bash", "bash"],
]);

/** Programs that run the command that follows them. */
const RUNNERS = new Set(
  "sudo doas env command builtin exec nohup nice ionice setsid stdbuf timeout time xargs busybox chroot unshare nsenter watch flock".split(
    " ",
  ),
);

/** Where in the words a command may begin: at the first, and behind a program that runs what follows anywhere. */
export function commandStarts(words: SimpleCommand["words"]): readonly number[] {
  const [name] = words;
  return name !== undefined && RUNNERS.has(baseName(name)) ? words.map((_, index) => index) : [0];
}

/** The script that a command is given to run as a word of its own: `sh -c 'a; b'`, `eval 'a; b'`. */
function innerScript(words: SimpleCommand["words"]): { readonly script: string; readonly dialect?: Dialect } | "unknown" | undefined {
  const at = commandStarts(words).find((start) => {
    const word = words[start];
    return word !== undefined && (word === "eval" || SHELLS.has(baseName(word)));
  });
  if (at === undefined) return undefined;
  const name = baseName(words[at] ?? "");
  const rest = words.slice(at + 1);
  if (name === "eval") return rest.every((word) => word !== undefined) ? { script: rest.join(" ") } : "unknown";
  const option = rest.findIndex((word) => word === undefined || /^-[a-zA-Z]*c[a-zA-Z]*$/.test(word));
  if (option === -1) return undefined;
  const script = rest[option + 1];
  return rest[option] === undefined || script === undefined || /^[-+]/.test(script) ? "unknown" : { script, dialect: SHELLS.get(name) };
}

/** `rm` for `/bin/rm`. */
export function baseName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}
