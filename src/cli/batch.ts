import { readFileSync } from "node:fs";
import type { ToolCall } from "../contract/tool.js";
import { UsageError, writeJson, writeLine } from "./output.js";
import { runCalls, showResult } from "./run-calls.js";
import { readStandardInput, type TargetOptions } from "./session.js";

interface BatchOptions extends TargetOptions {
  readonly json?: boolean;
  readonly events?: boolean;
  readonly sequential?: boolean;
}

/** `glovebox batch`: calls run by the scheduler as one batch. Exit 0 unless the batch could not run. */
export async function batch(file: string, options: BatchOptions): Promise<void> {
  const text = file === "-" ? (await readStandardInput()).toString("utf8") : readBatchFile(file);
  const calls = parseCalls(text);
  const { results, tools } = await runCalls(calls, { ...options, live: !options.json });
  if (options.events) return;
  for (const { id, name, content, details, isError } of results) {
    if (options.json) {
      await writeJson({ type: "tool_result", id, name, content, details, isError });
    } else {
      await writeLine(process.stdout, `── ${id} ${name}${isError ? " (error)" : ""}`);
      await showResult(tools.get(name), { content, details, isError });
    }
  }
}

/** A JSON array of calls, or one call a line. */
export function parseCalls(text: string): readonly ToolCall[] {
  const trimmed = text.trim();
  if (trimmed === "") throw new UsageError('the batch is empty: give a JSON array, or one {"id","name","arguments"} a line');
  const values: readonly unknown[] = trimmed.startsWith("[")
    ? (parseJson(trimmed, "the batch") as unknown[])
    : trimmed
        .split("\n")
        .map((line, index) => [line, index] as const)
        .filter(([line]) => line.trim() !== "")
        .map(([line, index]) => parseJson(line, `line ${index + 1} of the batch`));
  return values.map((value, index) => {
    const call = value as Partial<ToolCall> | null;
    if (typeof call !== "object" || call === null || typeof call.id !== "string" || typeof call.name !== "string") {
      throw new UsageError(`call ${index + 1} of the batch is not an object with the strings "id" and "name" and its "arguments"`);
    }
    return { id: call.id, name: call.name, arguments: call.arguments ?? {} };
  });
}

function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${what} is not JSON: ${(error as Error).message}`);
  }
}

function readBatchFile(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`cannot read the batch: ${(error as Error).message}`);
  }
}
