import { compileValidator, GloveboxError, type Static, stringEnum, Type } from "../../index.js";

const names = (description: string) => Type.Array(Type.String({ minLength: 1 }), { minItems: 1, description });

const ruleSchema = Type.Object(
  {
    decision: stringEnum(["allow", "ask", "deny"], { description: "What becomes of a call that this rule is the first to match" }),
    tools: Type.Optional(names("Names of the tools it is about; all without this")),
    targets: Type.Optional(names("Names of the targets it is about; all without this")),
    paths: Type.Optional(
      names(
        "Globs for the path that a call names, as find takes them: without a slash at any depth, with one from the working directory, absolute with a leading one. A directory stands for all that is in it",
      ),
    ),
    commands: Type.Optional(
      names("Beginnings of commands, in whole words: `git status` is about `git status -s` and not about `git stash`"),
    ),
    reason: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description: "For the model, when the call is refused; for the person, when they are asked",
      }),
    ),
  },
  { additionalProperties: false },
);

export const policySchema = Type.Object(
  {
    $schema: Type.Optional(Type.String()),
    default: Type.Optional(
      stringEnum(["allow", "ask", "deny"], { description: "What becomes of a call that no rule matches; ask without this" }),
    ),
    rules: Type.Array(ruleSchema, { description: "The first one that matches decides" }),
  },
  { additionalProperties: false },
);

export type Policy = Static<typeof policySchema>;
export type PolicyRule = Policy["rules"][number];
export type Decision = PolicyRule["decision"];

const validate = compileValidator(policySchema);

/** What a policy may speak about. */
export interface PolicySubjects {
  readonly tools: readonly string[];
  /** Names; empty when the only target has none. */
  readonly targets: readonly string[];
}

/**
 * A policy from the text of its file. Throws `invalid_argument` for anything that is not exactly a policy: unknown keys,
 * tools and targets that do not exist, rules that can never match.
 */
export function parsePolicy(text: string, subjects: PolicySubjects): Policy {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw refuse(`it is not JSON: ${(error as Error).message}`);
  }
  const validation = validate(value);
  if (!validation.ok) {
    throw refuse(
      validation.issues.map(({ field, expected, received }) => `${field || "the file"} should be ${expected}, not ${received}`).join("; "),
    );
  }
  for (const [index, rule] of validation.value.rules.entries()) {
    const wrong = objection(rule, subjects);
    if (wrong !== undefined) throw refuse(`rules[${index}] ${wrong}`);
  }
  return validation.value;
}

function objection({ tools = [], targets = [], paths, commands }: PolicyRule, subjects: PolicySubjects): string | undefined {
  const unknownTool = tools.find((tool) => !subjects.tools.includes(tool));
  if (unknownTool !== undefined) return `is about the tool ${JSON.stringify(unknownTool)}; there are ${subjects.tools.join(", ")}`;
  const unknownTarget = targets.find((target) => !subjects.targets.includes(target));
  if (unknownTarget !== undefined) {
    const known = subjects.targets.length === 0 ? "the only target here has no name" : `there are ${subjects.targets.join(", ")}`;
    return `is about the target ${JSON.stringify(unknownTarget)}; ${known}`;
  }
  if (paths !== undefined && commands !== undefined) return "has both paths and commands, and no call has both: write two rules";
  if (commands !== undefined && tools.length > 0 && !tools.includes("bash")) return "is about commands, and bash is not among its tools";
  if (commands?.some((command) => command.trim() === "" || /[^\x20-\x7e]/.test(command)))
    return "has a command that is blank or holds other than printable ASCII";
  return undefined;
}

function refuse(why: string): GloveboxError {
  return new GloveboxError("invalid_argument", `The policy cannot be used: ${why}.`);
}
