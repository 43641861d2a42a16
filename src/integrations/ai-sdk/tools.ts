import { type AgentTool, type CallResult, createScheduler, type JsonSchema, type SchedulerOptions, type ToolResult } from "../../index.js";
import { plainSchema } from "../plain-schema.js";
import { createGathering } from "./gathering.js";

/** Everything of a result, for a user interface; the model gets what `toModelOutput` makes of it. */
export interface AiSdkToolOutput extends Pick<ToolResult, "details" | "isError"> {
  readonly content: ToolResult["content"];
}

/** A result in the AI SDK's shape for a model (`ToolResultOutput`). */
export type AiSdkModelOutput =
  | { type: "text"; value: string }
  | { type: "error-text"; value: string }
  | {
      type: "content";
      value: ({ type: "text"; text: string } | { type: "file"; mediaType: string; data: { type: "data"; data: string } })[];
    };

/** As much of the AI SDK's `ToolExecutionOptions` as is used. */
export interface AiSdkExecutionOptions {
  readonly toolCallId: string;
  /** The same array for all calls of one step. */
  readonly messages: readonly unknown[];
  readonly abortSignal?: AbortSignal;
}

/** A Standard Schema with its JSON Schema, which the AI SDK takes without one of its own functions. */
export interface AiSdkInputSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "glovebox";
    validate(value: unknown): { readonly value: unknown };
    readonly jsonSchema: { input(): Record<string, unknown>; output(): Record<string, unknown> };
  };
}

/** One entry of the AI SDK's `ToolSet`. */
export interface AiSdkTool {
  readonly description: string;
  readonly inputSchema: AiSdkInputSchema;
  execute(input: unknown, options: AiSdkExecutionOptions): Promise<AiSdkToolOutput>;
  toModelOutput(options: { readonly output: AiSdkToolOutput }): AiSdkModelOutput;
}

/**
 * Tools for `generateText`, `streamText` and agents of the AI SDK. The calls of one step run as one batch of a scheduler
 * made with `options`, whose hooks see each; every call heeds its own abort signal. A failure is a result: its text goes to
 * the model as an error (`error-text`), and the AI SDK sees no exception, which it would hide from the next request.
 */
export function toAiSdkTools(tools: readonly AgentTool[], options: Omit<SchedulerOptions, "tools"> = {}): Record<string, AiSdkTool> {
  const gathering = createGathering((heeding) => createScheduler({ ...options, tools: tools.map(heeding) }));
  return Object.fromEntries(
    tools.map(({ name, description, parameters }) => [
      name,
      {
        description,
        inputSchema: toInputSchema(parameters),
        execute: async (input, { toolCallId: id, messages, abortSignal }) =>
          toOutput(await gathering.run({ id, name, arguments: input }, messages, abortSignal)),
        toModelOutput: ({ output }) => toModelOutput(output),
      } satisfies AiSdkTool,
    ]),
  );
}

/** Everything passes: the scheduler repairs and validates, and its refusals are words that a model can act on. */
function toInputSchema(parameters: JsonSchema): AiSdkInputSchema {
  const schema = () => plainSchema(parameters);
  const validate = (value: unknown) => ({ value });
  return { "~standard": { version: 1, vendor: "glovebox", validate, jsonSchema: { input: schema, output: schema } } };
}

function toOutput({ content, details, isError }: CallResult): AiSdkToolOutput {
  return { content, isError, ...(details === undefined ? {} : { details }) };
}

function toModelOutput({ content, isError }: AiSdkToolOutput): AiSdkModelOutput {
  const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  if (isError) return { type: "error-text", value: text };
  if (content.every(({ type }) => type === "text")) return { type: "text", value: text };
  return {
    type: "content",
    value: content.map((part) =>
      part.type === "text" ? part : { type: "file", mediaType: part.mimeType, data: { type: "data", data: part.data } },
    ),
  };
}
