import { setImmediate as turn } from "node:timers/promises";
import type { GloveboxEvent } from "../../src/contract/events.js";
import { compileValidator, type TObject, Type } from "../../src/contract/schema.js";
import type { AgentTool, ExecuteOptions, ToolCall, ToolResult } from "../../src/contract/tool.js";
import { type BatchResult, createScheduler, type SchedulerOptions } from "../../src/scheduler/index.js";

export const text = (words: string, extra: Partial<ToolResult> = {}): ToolResult => ({
  content: [{ type: "text", text: words }],
  isError: false,
  ...extra,
});

const noteParameters = Type.Object(
  {
    note: Type.Optional(Type.String()),
    count: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  { additionalProperties: false },
);

export interface Note {
  readonly note?: string;
  readonly count?: number;
}

type Execute = (parameters: Note, options: ExecuteOptions) => ToolResult | Promise<ToolResult>;

/** A tool that takes `{ note?, count? }` and answers with its note, after a turn of the event loop. */
export function noteTool(name: string, extra: Partial<AgentTool<Note>> & { run?: Execute; schema?: TObject } = {}): AgentTool<Note> {
  const { run, schema = noteParameters, ...rest } = extra;
  return {
    name,
    label: name,
    description: `Notes, as ${name}.`,
    parameters: schema,
    effect: "read",
    validate: compileValidator(schema) as AgentTool<Note>["validate"],
    async execute(parameters, options) {
      if (run !== undefined) return await run(parameters, options);
      await turn();
      return text(`${name} ${parameters.note ?? ""}`.trim());
    },
    ...rest,
  };
}

export const call = (id: string, name: string, args: unknown = {}): ToolCall => ({ id, name, arguments: args });

/** Each result as one line: `id ok text` or `id code text`. */
export function lines({ results }: BatchResult): string[] {
  return results.map(({ id, content, isError, details }) => {
    const { error } = (details ?? {}) as { error?: { code: string } };
    return `${id} ${isError ? (error?.code ?? "error") : "ok"} ${content.map((item) => (item.type === "text" ? item.text : item.mimeType)).join(" | ")}`;
  });
}

/** Events as short lines: `start a`, `update a half`, `end a`, `result a`. */
export function recorder() {
  const events: GloveboxEvent[] = [];
  return {
    events,
    onEvent: (event: GloveboxEvent) => {
      events.push(event);
    },
    get lines() {
      return events.map((event) => {
        switch (event.type) {
          case "tool_execution_start":
            return `start ${event.id}`;
          case "tool_execution_update":
            return `update ${event.id} ${event.update.content.map((item) => (item.type === "text" ? item.text : "")).join()}`;
          case "tool_execution_end":
            return `end ${event.id}`;
          case "tool_result":
            return `result ${event.id}`;
          case "hook_failed":
            return `hook_failed ${event.id} ${event.hook}: ${event.message}`;
          case "mutation_queued":
            return `queued ${event.key} ${event.waiting}`;
          default:
            return event.type;
        }
      });
    },
  };
}

/** Runs one call of `note` under these hooks; `ran` holds what it was executed with. */
export async function runUnder(options: Omit<SchedulerOptions, "tools">, args: unknown = { note: "x" }) {
  const ran: Note[] = [];
  const record = recorder();
  const tool = noteTool("note", {
    run(parameters) {
      ran.push(parameters);
      return text("secret 1234", { details: { secret: 1234 } });
    },
  });
  const scheduler = createScheduler({ ...options, tools: [tool], onEvent: record.onEvent });
  const batch = await scheduler.runBatch([call("1", "note", args)]);
  return { ran, batch, lines: lines(batch), failures: record.lines.filter((line) => line.startsWith("hook_failed")) };
}

/** A promise and the function that fulfils it. */
export function gate() {
  let open!: () => void;
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}

export { turn };
