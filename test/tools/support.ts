import { onTestFinished } from "vitest";
import { type MemoryOptions, memory } from "../../adapters/memory/memory.js";
import { compileValidator, type TSchema } from "../../src/contract/schema.js";
import type { AgentTool, ExecuteOptions, ToolResult } from "../../src/contract/tool.js";
import { errorResult } from "../../src/contract/tool-result.js";
import { openEnvironment } from "../../src/environment.js";

/** An environment in memory, working in /workspace, closed when the test is over. */
export async function openMemory(options: MemoryOptions = {}) {
  const environment = await openEnvironment(memory(options));
  onTestFinished(() => environment.close());
  return environment;
}

export interface Called {
  /** All text of the result. */
  readonly text: string;
  readonly isError: boolean;
  readonly details: Readonly<Record<string, unknown>>;
  readonly result: ToolResult;
  readonly updates: readonly string[];
}

/**
 * Calls a tool as a scheduler would: prepared, validated, executed, an error made into a result. Checks that the details are
 * JSON-safe and, of a result that the tool made itself, as its schema says.
 */
export async function call(tool: AgentTool, raw: unknown, options: Partial<ExecuteOptions> = {}): Promise<Called> {
  const validation = tool.validate(tool.prepareArguments?.(raw) ?? raw);
  if (!validation.ok) throw new Error(`refused by schema: ${JSON.stringify(validation.issues)}`);
  const updates: string[] = [];
  const onUpdate = (update: ToolResult): number => updates.push(textOf(update));
  let result: ToolResult;
  try {
    result = await tool.execute(validation.value, { id: "call-1", signal: new AbortController().signal, onUpdate, ...options });
    checkDetails(tool, result);
  } catch (error) {
    result = errorResult(error);
  }
  const details = result.details as Readonly<Record<string, unknown>>;
  if (JSON.stringify(JSON.parse(JSON.stringify(details))) !== JSON.stringify(details)) throw new Error("details are not JSON-safe");
  return { text: textOf(result), isError: result.isError, details, result, updates };
}

function checkDetails({ name, detailsSchema }: AgentTool, result: ToolResult): void {
  if (detailsSchema === undefined) return;
  const checked = compileValidator(detailsSchema as unknown as TSchema)(result.details);
  if (!checked.ok) throw new Error(`details of ${name} are not as its schema says: ${JSON.stringify(checked.issues)}`);
}

function textOf(result: ToolResult): string {
  return result.content.map((content) => (content.type === "text" ? content.text : `<${content.mimeType}>`)).join("\n");
}
