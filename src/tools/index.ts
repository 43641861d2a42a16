import { GloveboxError } from "../contract/errors.js";
import type { Environment } from "../contract/target.js";
import { type AgentTool, bindTool } from "../contract/tool.js";
import { formatList } from "../text/format.js";
import { bashTool } from "./bash.js";
import { editTool } from "./edit.js";
import { findTool } from "./find.js";
import { grepTool } from "./grep.js";
import { lsTool } from "./ls.js";
import { readTool } from "./read.js";
import { writeTool } from "./write.js";

/** The seven definitions, by name, in the order in which they are offered. */
export const allToolDefinitions = {
  read: readTool,
  bash: bashTool,
  edit: editTool,
  write: writeTool,
  grep: grepTool,
  find: findTool,
  ls: lsTool,
} as const;

export type ToolName = keyof typeof allToolDefinitions;

/** The names of the seven tools, in the order in which they are offered. */
export const toolNames = Object.keys(allToolDefinitions) as readonly ToolName[];

export interface CreateToolsOptions {
  /** Which tools, in this order. Default: `defaultToolNames(environment)`. */
  readonly names?: readonly ToolName[];
}

/** The tools that act on one environment, each safe to run by itself. An unknown name throws `invalid_argument`. */
export function createTools(
  environment: Environment,
  { names = defaultToolNames(environment) }: CreateToolsOptions = {},
): readonly AgentTool[] {
  return names.map((name) => {
    if (!Object.hasOwn(allToolDefinitions, name)) {
      throw new GloveboxError("invalid_argument", `No tool is named ${JSON.stringify(name)}. There are ${formatList(toolNames)}.`, {
        retrySafe: true,
      });
    }
    return binders[name](environment);
  });
}

/** The tools that change nothing: read, grep, find, ls. */
export function createReadOnlyTools(environment: Environment): readonly AgentTool[] {
  return createTools(environment, { names: toolNames.filter((name) => allToolDefinitions[name].effect === "read") });
}

/** What is active by default: read, bash, edit and write; where no commands can run, all the others. */
export function defaultToolNames({ capabilities }: Pick<Environment, "capabilities">): readonly ToolName[] {
  return capabilities.exec ? ["read", "bash", "edit", "write"] : toolNames.filter((name) => name !== "bash");
}

const binders: Readonly<Record<ToolName, (environment: Environment) => AgentTool>> = {
  read: (environment) => bindTool(readTool, environment),
  bash: (environment) => bindTool(bashTool, environment),
  edit: (environment) => bindTool(editTool, environment),
  write: (environment) => bindTool(writeTool, environment),
  grep: (environment) => bindTool(grepTool, environment),
  find: (environment) => bindTool(findTool, environment),
  ls: (environment) => bindTool(lsTool, environment),
};
