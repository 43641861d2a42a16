import { randomUUID } from "node:crypto";
import { GloveboxError } from "../contract/errors.js";
import type { BashOperations } from "../contract/operations.js";
import { type Static, Type } from "../contract/schema.js";
import { defineTool, type ToolContext, type ToolResult } from "../contract/tool.js";
import { errorData, textResult, toKnownError } from "../contract/tool-result.js";
import { quoteName } from "../text/escape.js";
import { formatCount, formatNumber } from "../text/format.js";
import { checkText } from "./arguments.js";
import { describeEnding } from "./bash-ending.js";
import { createOutputCollector, MAX_KEPT_BYTES, type OutputCollector, type ShownOutput } from "./bash-output.js";
import { MAX_TIMER_MS, withDeadline } from "./deadline.js";
import { detailsSchema, truncationDetails, truncationSchema } from "./details.js";
import { createThrottle } from "./progress.js";
import { callLine, showResult } from "./render.js";

const MIN_TIMEOUT_SECONDS = 0.001;
const MAX_TIMEOUT_SECONDS = Math.floor(MAX_TIMER_MS / 1000);

export const bashParametersSchema = Type.Object(
  {
    command: Type.String({ description: "Command for the target's shell, run in the working directory with empty standard input" }),
    timeout: Type.Optional(
      Type.Number({
        minimum: MIN_TIMEOUT_SECONDS,
        maximum: MAX_TIMEOUT_SECONDS,
        description: "Seconds after which the command and all it started are killed (default: none)",
      }),
    ),
  },
  { additionalProperties: false },
);
export type BashParameters = Static<typeof bashParametersSchema>;

export const bashDetailsSchema = detailsSchema({
  exitCode: Type.Optional(Type.Integer({ description: "Exit code, of a command that ran to its end" })),
  signal: Type.Optional(Type.String({ description: "Signal that ended it: SIGKILL" })),
  outOfMemory: Type.Optional(Type.Boolean({ description: "The target killed it for want of memory" })),
  timedOut: Type.Optional(Type.Boolean({ description: "It was killed because its timeout ran out" })),
  aborted: Type.Optional(Type.Boolean({ description: "It was killed because the call was aborted" })),
  background: Type.Optional(
    Type.Array(Type.Integer({ description: "Process id on the target" }), { description: "Processes it started that still run" }),
  ),
  outputBytes: Type.Integer({ description: "Bytes of output, both streams" }),
  invalidUtf8: Type.Optional(Type.Boolean({ description: "Some shown bytes were not UTF-8 and are U+FFFD" })),
  truncation: Type.Optional(truncationSchema),
  fullOutputPath: Type.Optional(Type.String({ description: "File on the target that holds the output, when not all is shown" })),
  keptBytes: Type.Optional(Type.Integer({ description: "How many bytes of the output that file holds, from the first" })),
});
export type BashDetails = Static<typeof bashDetailsSchema>;

export const bashTool = defineTool<typeof bashParametersSchema, BashDetails, BashOperations>({
  name: "bash",
  label: "Run a command",
  description:
    "Run a shell command on the target and return what it prints, standard output and standard error together, the last 2000 lines or 50 KiB. " +
    "There is no terminal and standard input is empty. Longer output is kept in a file on the target, which the result names.",
  parameters: bashParametersSchema,
  detailsSchema: bashDetailsSchema,
  effect: "execute",
  promptSnippet: "Run a shell command",
  promptGuidelines: [
    "Give bash a timeout for commands that may not end by themselves; start servers in the background with &.",
    "Commands in bash get no input and no terminal: use flags such as -y, never editors, pagers or prompts.",
  ],
  renderCall: ({ command, timeout }, style) =>
    callLine("bash", `${command}${timeout === undefined ? "" : ` (timeout ${formatCount(timeout, "second")})`}`, style),
  renderResult: (result, style) => showResult(result, style, "tail"),
  run: runCommand,
});

async function runCommand({ command, timeout }: BashParameters, context: ToolContext<BashOperations>): Promise<ToolResult<BashDetails>> {
  checkCommand(command);
  const timeoutMs = timeout === undefined ? undefined : toMilliseconds(timeout);
  const { operations, signal, onUpdate } = context;
  const output = createOutputCollector();
  const updates = createThrottle(() => {
    const shown = output.shown();
    onUpdate(textResult(shown.text, { outputBytes: output.totalBytes, ...truncationDetails(shown) }));
  });
  try {
    const result = await withDeadline(
      signal,
      timeoutMs,
      () => timeoutError(timeout),
      (bounded) =>
        operations.exec(command, {
          signal: bounded,
          onOutput(chunk, stream) {
            output.push(chunk, stream);
            updates.poke();
          },
        }),
    );
    updates.stop();
    const { failed, signal: endedBy, text } = describeEnding(result);
    const { exitCode, outOfMemory, background = [] } = result;
    return await compose(output, context, text, failed, {
      ...(exitCode === undefined ? {} : { exitCode }),
      ...(endedBy === undefined ? {} : { signal: endedBy }),
      ...(outOfMemory ? { outOfMemory } : {}),
      ...(background.length === 0 ? {} : { background: [...background] }),
    });
  } catch (error) {
    updates.stop();
    const data = errorData(nameCause(toKnownError(error)));
    return await compose(output, context, data.message, true, {
      ...(data.code === "timeout" ? { timedOut: true } : {}),
      ...(data.code === "aborted" ? { aborted: true } : {}),
      error: data,
    });
  }
}

/** The output that is shown, the notices about what is not, and how it ended. */
async function compose(
  output: OutputCollector,
  context: ToolContext<BashOperations>,
  ending: string,
  isError: boolean,
  facts: Partial<BashDetails>,
): Promise<ToolResult<BashDetails>> {
  output.finish();
  const shown = output.shown();
  const kept = shown.by === undefined ? undefined : await keep(output, context);
  const notices = [
    shown.by !== undefined && `[${shownText(shown)} ${kept?.text ?? ""}]`,
    shown.invalidUtf8 && "[Some bytes are not UTF-8 and show as U+FFFD. To see them, pipe the command into od -c.]",
    ending !== "" && (isError ? ending : `[${ending}]`),
  ].filter((notice) => notice !== false);
  const printed = shown.text === "" && !isError ? "(no output)" : shown.text;
  const text = [printed, notices.join("\n")].filter((part) => part !== "").join("\n\n");
  const details: BashDetails = {
    ...facts,
    outputBytes: output.totalBytes,
    ...(shown.invalidUtf8 ? { invalidUtf8: true } : {}),
    ...truncationDetails(shown),
    ...(kept?.path === undefined ? {} : { fullOutputPath: kept.path, keptBytes: kept.bytes }),
  };
  return textResult(text, details, isError);
}

function shownText({ shownLines, totalLines, totalBytes, by, partialLine }: ShownOutput): string {
  if (partialLine)
    return `Shown: the end of the last line, of ${formatCount(totalLines, "line")} and ${formatCount(totalBytes, "byte")} in all.`;
  const why = by === "lines" ? "2,000 lines is the most" : "50 KiB is the most";
  return `Shown: the last ${formatCount(shownLines, "line")} of ${formatNumber(totalLines)} (${why}).`;
}

interface Kept {
  readonly path?: string;
  readonly bytes: number;
  readonly text: string;
}

/** Writes the output to a file of its own on the target, where that can be done. */
async function keep(output: OutputCollector, { operations, place, signal }: ToolContext<BashOperations>): Promise<Kept> {
  const again = "To see the rest, run it again with its output sent to a file, and read that.";
  const bytes = output.kept().length;
  if (operations.writeFile === undefined || place.spoolDirectory === undefined)
    return { bytes: 0, text: `The rest was not kept. ${again}` };
  if (signal.aborted) return { bytes: 0, text: "The rest was not kept, since the call was aborted." };
  const path = `${place.spoolDirectory}/bash-${randomUUID()}.txt`;
  try {
    await operations.writeFile(path, output.kept(), { signal });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { bytes: 0, text: `The rest could not be kept on the target: ${why} ${again}` };
  }
  const what =
    bytes < output.totalBytes
      ? `The first ${formatNumber(MAX_KEPT_BYTES / 1024 / 1024)} MiB of its ${formatCount(output.totalBytes, "byte")} are`
      : "All of it is";
  return { path, bytes, text: `${what} in ${quoteName(path)} on the target: read or grep that file.` };
}

/** An abort, in words that say what became of the command. A timeout is our own error and says it already. */
function nameCause(error: GloveboxError): GloveboxError {
  if (error.code !== "aborted") return error;
  const { retrySafe, target, verb, path, details } = error;
  const message = retrySafe
    ? "The call was aborted before the command was started. Call it again if it is still wanted."
    : "The call was aborted; the command and everything it started were killed. What it did until then stays done.";
  return new GloveboxError("aborted", message, { retrySafe, target, verb, path, details, cause: error });
}

function timeoutError(seconds: number | undefined): GloveboxError {
  const message = `Timed out after ${formatCount(seconds ?? 0, "second")}; the command and everything it started were killed. Give it a longer timeout, or make it do less.`;
  return new GloveboxError("timeout", message);
}

function toMilliseconds(seconds: number): number {
  if (Number.isFinite(seconds) && seconds >= MIN_TIMEOUT_SECONDS && seconds <= MAX_TIMEOUT_SECONDS) return Math.ceil(seconds * 1000);
  const message = `A timeout of ${seconds} seconds cannot be kept. Give a number from ${MIN_TIMEOUT_SECONDS} to ${formatNumber(MAX_TIMEOUT_SECONDS)}, or none.`;
  throw new GloveboxError("invalid_argument", message, { retrySafe: true });
}

function checkCommand(command: string): void {
  checkText(command, "command");
  if (!command.includes("\0")) return;
  throw new GloveboxError("invalid_argument", "The command holds a NUL character, which no shell can take. Use printf '\\0' to make one.", {
    retrySafe: true,
  });
}
