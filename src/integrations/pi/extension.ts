import {
  bashTool,
  createScheduler,
  createTools,
  editTool,
  findTool,
  grepTool,
  type Layer,
  lsTool,
  readTool,
  type Scheduler,
  type SchedulerOptions,
  type Target,
  type ToolDefinition,
  type ToolResult,
  toolNames,
  writeTool,
} from "../../index.js";
import { plainSchema } from "../plain-schema.js";
import { piBash } from "./bash-operations.js";
import { closeEnvironments, environmentOf, hasStarted } from "./environment.js";
import type { PiExtension, PiToolResult } from "./host.js";

/** The hooks and events are those of the scheduler that every call of the seven tools goes through. */
export interface PiExtensionOptions extends Omit<SchedulerOptions, "tools"> {
  /** Layers of the environment. */
  readonly layers?: readonly Layer[];
}

type Described = Pick<ToolDefinition, "name" | "label" | "description" | "promptSnippet" | "promptGuidelines" | "executionMode"> &
  Pick<ToolDefinition, "parameters" | "prepareArguments">;

/** All of them, whatever the target can do: one that is left out would be Pi's own, which acts on the host. */
const TOOLS: readonly Described[] = [readTool, bashTool, editTool, writeTool, grepTool, findTool, lsTool];

/** Tools of Pi's own that act on the host and have no counterpart on a target. */
const HOST_TOOLS: ReadonlySet<string> = new Set(["powershell"]);

/**
 * A Pi extension, to be the default export of a file that Pi loads: the seven tools and the user's `!` commands act on
 * `target`, and not on the machine that Pi runs on.
 *
 * When the target cannot be reached as Pi starts, loading the extension fails, and that ends Pi. Should it be out of reach
 * when Pi loads the extension once more for another session, the tools are there and say why they cannot work. A call that
 * a tool of another extension would take is blocked. The environment is closed when Pi ends.
 */
export function piExtension(target: Target, { layers = [], ...schedulerOptions }: PiExtensionOptions = {}): PiExtension {
  const connect = () => environmentOf(target, layers);
  let scheduler: Scheduler | undefined;
  const schedule = async (): Promise<Scheduler> => {
    const environment = await connect();
    scheduler ??= createScheduler({ ...schedulerOptions, tools: createTools(environment, { names: toolNames }) });
    return scheduler;
  };

  return async (pi) => {
    if (!hasStarted()) await connect();

    for (const { parameters, promptGuidelines, ...tool } of TOOLS) {
      const { name, label, description, promptSnippet, executionMode, prepareArguments } = tool;
      pi.registerTool({
        name,
        label,
        description,
        promptSnippet,
        promptGuidelines: [...promptGuidelines],
        parameters: plainSchema(parameters),
        ...(executionMode && { executionMode }),
        ...(prepareArguments && { prepareArguments }),
        execute: async (id, values, signal, onUpdate) => await run(await schedule(), { id, name, arguments: values }, signal, onUpdate),
      });
    }
    pi.on("user_bash", async () => {
      const environment = await connect();
      const { exec } = piBash(environment);
      return { operations: { exec: (command, _hostDirectory, options) => exec(command, environment.cwd, options) } };
    });
    pi.on("tool_call", ({ toolName }) => {
      const ours = TOOLS.find(({ name }) => name === toolName);
      const theirs = ours !== undefined && pi.getAllTools().some((tool) => tool.name === toolName && tool.description !== ours.description);
      if (!theirs && !HOST_TOOLS.has(toolName)) return undefined;
      return { block: true, reason: `${toolName} would act on the machine that Pi runs on instead of ${target.label}.` };
    });
    // Pi's picture of an edit to come is made from the host's file.
    pi.registerToolRenderer((toolName, next) => (toolName === editTool.name ? {} : next()));
    pi.on("before_agent_start", async ({ systemPromptOptions }) => {
      const { cwd, label } = await connect();
      systemPromptOptions.cwd = cwd;
      systemPromptOptions.sections = {
        ...systemPromptOptions.sections,
        target: `${toolNames.join(", ")} act on ${label}. Files of the machine that you run on cannot be reached with them.`,
      };
    });
    pi.on("session_start", (_event, { ui }) => ui.setStatus("glovebox", target.label));
    pi.on("session_shutdown", async ({ reason }) => {
      if (reason === "quit") await closeEnvironments();
    });
  };
}

async function run(
  scheduler: Scheduler,
  call: { readonly id: string; readonly name: string; readonly arguments: unknown },
  signal: AbortSignal | undefined,
  onUpdate: ((partial: PiToolResult) => void) | undefined,
): Promise<PiToolResult> {
  const stop = scheduler.onEvent((event) => {
    if (event.type === "tool_execution_update" && event.id === call.id) onUpdate?.(toPiResult(event.update));
  });
  try {
    const { results } = await scheduler.runBatch([call], { signal });
    const [result] = results;
    if (result === undefined) throw new Error(`${call.name} has no result`);
    return toPiResult(result);
  } finally {
    stop();
  }
}

function toPiResult({ content, details, isError, terminate }: ToolResult): PiToolResult {
  return { content: [...content], details, isError, ...(terminate && { terminate }) };
}
