import {
  type AgentTool,
  type BeforeToolCall,
  type BeforeToolCallVerdict,
  type Environment,
  GloveboxError,
  type HookContext,
} from "../../index.js";
import type { Policy } from "./policy.js";
import { judge, type Ruling, type Subject, stricter } from "./policy-rules.js";
import { type Dialect, parseCommands } from "./shell-commands.js";

/** Longer questions are not read, and what is not read is not consented to. */
const MAX_QUESTION_CHARACTERS = 4_000;

export interface PolicyPlace {
  /** The target's name; "" for one without. */
  readonly target: string;
  readonly environment: Pick<Environment, "cwd" | "realpath" | "capabilities" | "label">;
}

/**
 * A policy as a hook: a call goes through, is put to a person, or is refused with the rule's reason. A path is judged by
 * every name it has, its canonical one on the target among them; a compound command by each of its commands. What cannot
 * be told is never allowed by a rule. The policy binds what calls say: what a command does is bounded by the target alone.
 */
export function policyHook(policy: Policy, place: PolicyPlace): BeforeToolCall {
  const judgesCommands = policy.rules.some(({ commands }) => commands !== undefined);
  const judgesPaths = policy.rules.some(({ paths }) => paths !== undefined);
  const dialect: Dialect = place.environment.capabilities.shell === "bash" ? "bash" : "sh";

  return async (context): Promise<BeforeToolCallVerdict> => {
    const { call, tool, arguments: given } = context;
    const { command, path } = given as { readonly command?: unknown; readonly path?: unknown };
    const subjects: Subject[] = [];
    if (tool.name === "bash" && typeof command === "string" && judgesCommands) {
      const parsed = parseCommands(command, dialect);
      if (!parsed.ok)
        return {
          block: true,
          reason: `the policy judges commands one by one, and this one ${parsed.why}. Write it as plain shell commands`,
        };
      subjects.push(...parsed.commands.map((each) => ({ kind: "command" as const, command: each })));
    } else if (judgesPaths && PATH_TOOLS.has(tool.name)) {
      subjects.push(await pathSubject(typeof path === "string" ? path : ".", place, context));
    }
    if (subjects.length === 0) subjects.push({ kind: "call" });
    const ruling = subjects.map((subject) => judge(policy, { tool: call.name, target: place.target }, subject)).reduce(stricter);
    if (ruling.decision === "allow") return undefined;
    if (ruling.decision === "deny") return { block: true, reason: `the policy does not allow it${because(ruling)}` };
    const question = `Allow this on ${place.target || place.environment.label}?\n\n${describe(tool, given)}${ruling.reason === undefined ? "" : `\n\n${ruling.reason}`}`;
    if (question.length > MAX_QUESTION_CHARACTERS) {
      return {
        block: true,
        reason: "a person would have to be asked, and the call is too long for anyone to read. Do it in smaller steps",
      };
    }
    return { ask: question };
  };
}

/** The tools of ours whose `path` names what they act on; without one, it is the working directory. */
const PATH_TOOLS: ReadonlySet<string> = new Set(["read", "write", "edit", "grep", "find", "ls"]);

/** What the tools read another way when the name does not exist: a stray @, a URL, a home directory, blanks that are no spaces. */
const MAY_BE_REPAIRED = /^(@|~|file:)|[^\S ]|[\u00a0\u2000-\u200b\u202f\u205f\u3000]/;

async function pathSubject(path: string, { environment }: PolicyPlace, { signal }: HookContext): Promise<Subject> {
  const { cwd } = environment;
  if (MAY_BE_REPAIRED.test(path)) return { kind: "path", paths: undefined, cwd };
  try {
    return { kind: "path", paths: [absolute(cwd, path), await environment.realpath(path, { signal })], cwd };
  } catch (error) {
    // Outside the root, say: the tool will say so itself, if it gets as far.
    if (error instanceof GloveboxError && !signal.aborted) return { kind: "path", paths: undefined, cwd };
    throw error;
  }
}

function absolute(cwd: string, path: string): string {
  const parts: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${cwd}/${path}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

function because({ reason }: Ruling): string {
  return reason === undefined ? "" : `: ${reason}`;
}

/** The call on one line, nothing of it able to hide or reorder the rest. */
function describe(tool: AgentTool, given: unknown): string {
  return (
    tool.renderCall?.(given, { ansi: false }) ??
    `${tool.name} ${JSON.stringify(given).replace(/[^\x20-\x7e]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)}`
  );
}
