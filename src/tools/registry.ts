import { GloveboxError } from "../contract/errors.js";
import type { AgentTool } from "../contract/tool.js";
import { formatList } from "../text/format.js";

export interface ToolRegistry {
  /** Every tool, in order of registration. */
  getAllTools(): readonly AgentTool[];
  /** The tools that are active, in the order they were activated in. */
  getActiveTools(): readonly AgentTool[];
  /** Makes exactly these active, in this order. An unknown name rejects all: `invalid_argument`, and nothing changes. */
  setActiveTools(names: readonly string[]): void;
  getTool(name: string): AgentTool | undefined;
  /** Adds a tool, active unless told otherwise. One of the same name is refused (`exists`) unless `replace` is true; then it takes its place. */
  register(tool: AgentTool, options?: RegisterOptions): void;
  /** The tool section of a system prompt for the active tools: a line each, then their guidelines, each once. "" without any. */
  renderPrompt(): string;
}

export interface RegisterOptions {
  readonly replace?: boolean;
  /** Default true. Has no say over a tool that replaces another: it is active if that was. */
  readonly active?: boolean;
}

export interface RegistryOptions {
  /** Names of the tools that are active at first. Default: all. */
  readonly active?: readonly string[];
}

/** A set of tools, some of them active. */
export function createToolRegistry(tools: Iterable<AgentTool> = [], options: RegistryOptions = {}): ToolRegistry {
  const all = new Map<string, AgentTool>();
  let active: readonly string[] = [];

  const registry: ToolRegistry = {
    getAllTools: () => [...all.values()],
    getActiveTools: () => active.flatMap((name) => all.get(name) ?? []),
    getTool: (name) => all.get(name),
    setActiveTools(names) {
      const unknown = names.filter((name) => !all.has(name));
      if (unknown.length > 0) throw unknownTools(unknown, [...all.keys()]);
      active = [...new Set(names)];
    },
    register(tool, { replace = false, active: activate = true } = {}) {
      const known = all.has(tool.name);
      if (known && !replace) {
        const message = `There is a tool named ${JSON.stringify(tool.name)} already. Give this one another name, or pass { replace: true } to put it in its place.`;
        throw new GloveboxError("exists", message, { retrySafe: true });
      }
      all.set(tool.name, tool);
      if (!known && activate) active = [...active, tool.name];
    },
    renderPrompt: () => renderTools(registry.getActiveTools()),
  };
  for (const tool of tools) registry.register(tool);
  if (options.active !== undefined) registry.setActiveTools(options.active);
  return registry;
}

function renderTools(tools: readonly AgentTool[]): string {
  if (tools.length === 0) return "";
  const lines = tools.map(({ name, promptSnippet, description }) => `- ${name}: ${promptSnippet ?? description}`);
  const guidelines = [...new Set(tools.flatMap(({ promptGuidelines = [] }) => promptGuidelines))];
  const sections = [["Tools:", ...lines].join("\n")];
  if (guidelines.length > 0) sections.push(["Guidelines:", ...guidelines.map((guideline) => `- ${guideline}`)].join("\n"));
  return sections.join("\n\n");
}

function unknownTools(unknown: readonly string[], known: readonly string[]): GloveboxError {
  const names = formatList(unknown.map((name) => JSON.stringify(name)));
  const there = known.length === 0 ? "There are no tools; register them first." : `There are ${formatList(known)}.`;
  return new GloveboxError("invalid_argument", `No tool is named ${names}. ${there}`, { retrySafe: true });
}
