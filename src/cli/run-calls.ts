import type { GloveboxEvent } from "../contract/events.js";
import type { AgentTool, ToolCall, ToolResult } from "../contract/tool.js";
import { createScheduler } from "../scheduler/index.js";
import { escapeControls } from "../text/escape.js";
import { createTools, toolNames } from "../tools/index.js";
import { useColour, writeJson, writeLine } from "./output.js";
import { type TargetOptions, withSession } from "./session.js";

export interface RunOptions extends TargetOptions {
  /** Show people, on standard error when it is a terminal, what happens while it does. */
  readonly live?: boolean;
  /** Print every event as a JSON line. */
  readonly events?: boolean;
  readonly sequential?: boolean;
}

export interface RunOutcome {
  readonly results: readonly (ToolResult & { readonly id: string; readonly name: string })[];
  readonly tools: ReadonlyMap<string, AgentTool>;
}

/** Runs the calls as one batch on the target that the options name, with all seven tools. */
export async function runCalls(calls: readonly ToolCall[], options: RunOptions): Promise<RunOutcome> {
  const { live = false, events = false, sequential = false } = options;
  const printed: Promise<void>[] = [];
  const onEvent = (event: GloveboxEvent): void => {
    if (events) printed.push(writeJson(event));
    else if (live && process.stderr.isTTY) showEvent(event);
  };
  const outcome = await withSession(
    options,
    async ({ environment, signal }) => {
      const tools = createTools(environment, { names: toolNames });
      const scheduler = createScheduler({ tools, onEvent, toolExecution: sequential ? "sequential" : "parallel" });
      const { results } = await scheduler.runBatch(calls, { signal });
      return { results, tools: new Map(tools.map((tool) => [tool.name, tool])) };
    },
    onEvent,
  );
  await Promise.all(printed);
  return outcome;
}

/** A result for people: rendered by its tool, or its text with control characters made visible. */
export async function showResult(tool: AgentTool | undefined, result: ToolResult): Promise<void> {
  const rendered = tool?.renderResult?.(result, { ansi: useColour(process.stdout) });
  await writeLine(process.stdout, rendered ?? plainText(result));
}

function plainText({ content }: ToolResult): string {
  return content.map((part) => (part.type === "text" ? escapeControls(part.text) : `[${part.mimeType} image]`)).join("\n");
}

function showEvent(event: GloveboxEvent): void {
  const line = eventLine(event);
  if (line !== undefined) process.stderr.write(`${line}\n`);
}

/** One line for people about an event, or nothing where there is nothing to say. */
export function eventLine(event: GloveboxEvent): string | undefined {
  switch (event.type) {
    case "tool_execution_start":
      return escapeControls(`> ${event.id} ${event.name} ${shorten(JSON.stringify(event.arguments) ?? "")}`);
    case "tool_execution_update":
      return escapeControls(`  ${event.id} ${shorten(lastLine(event.update))}`);
    case "tool_execution_end":
      return escapeControls(`< ${event.id} ${event.name} ${event.isError ? "error" : "done"} in ${event.durationMs.toFixed(1)} ms`);
    case "mutation_queued":
      return escapeControls(`  waiting for ${event.waiting} other write(s) of ${event.key}`);
    case "target_lost":
      return escapeControls(`! lost ${event.target}: ${event.message}`);
    case "target_restored":
      return escapeControls(`! reached ${event.target} again`);
    default:
      return undefined;
  }
}

function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 99)}…` : text;
}

function lastLine({ content }: ToolResult): string {
  const text = content.map((part) => (part.type === "text" ? part.text : "")).join("");
  return text.trimEnd().split("\n").at(-1) ?? "";
}
