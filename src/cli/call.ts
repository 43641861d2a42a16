import { EXIT } from "./exit-codes.js";
import { UsageError, writeJson } from "./output.js";
import { runCalls, showResult } from "./run-calls.js";
import { readStandardInput, type TargetOptions } from "./session.js";

interface CallOptions extends TargetOptions {
  readonly args: string;
  readonly json?: boolean;
}

/** `glovebox call`: one tool call. Exit 0, or 1 when the result is an error. */
export async function call(tool: string, options: CallOptions): Promise<void> {
  const text = options.args === "-" ? (await readStandardInput()).toString("utf8") : options.args;
  const request = { id: "call", name: tool, arguments: parseArguments(text) };
  const { results, tools } = await runCalls([request], { ...options, live: !options.json });
  for (const { content, details, isError } of results) {
    if (options.json) await writeJson({ content, details, isError });
    else await showResult(tools.get(tool), { content, details, isError });
    process.exitCode = isError ? EXIT.isError : EXIT.done;
  }
}

function parseArguments(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`--args is not JSON: ${(error as Error).message}. Write it like --args '{"path":"README.md"}'`);
  }
}
