import { errorResult, GloveboxError, type Scheduler, type ToolCall, type ToolResult } from "../../index.js";

export interface RunToolCallsOptions {
  readonly signal?: AbortSignal;
}

/** A call as OpenAI's APIs write it: its arguments are text that should be JSON. */
export interface WrittenCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/**
 * Runs calls as one batch, results in their order. One whose arguments are not JSON does not run: its result says where
 * they stop making sense.
 */
export async function runWrittenCalls(
  scheduler: Pick<Scheduler, "runBatch">,
  calls: readonly WrittenCall[],
  options: RunToolCallsOptions = {},
): Promise<readonly ToolResult[]> {
  const parsed = calls.map(parse);
  const { results } = await scheduler.runBatch(
    parsed.flatMap((each) => each.call ?? []),
    options,
  );
  const answers = results[Symbol.iterator]();
  return parsed.map(({ call, refusal }) => {
    const answer = call === undefined ? refusal : answers.next().value;
    if (answer === undefined) throw new GloveboxError("unexpected", "The scheduler answered with fewer results than it was given calls.");
    return answer;
  });
}

interface ParsedCall {
  readonly call?: ToolCall;
  readonly refusal?: ToolResult;
}

function parse({ id, name, arguments: text }: WrittenCall): ParsedCall {
  // Models say nothing at all where a tool needs nothing.
  if (text.trim() === "") return { call: { id, name, arguments: {} } };
  try {
    return { call: { id, name, arguments: JSON.parse(text) as unknown } };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const message = `${name} did not run: its arguments are not JSON (${why}). Call it again with arguments that are one JSON object, complete and with quotes and line breaks in strings escaped.`;
    return { refusal: errorResult(new GloveboxError("invalid_argument", message, { retrySafe: true })) };
  }
}
