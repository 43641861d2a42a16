import {
  type AgentTool,
  bashTool,
  bindTool,
  type Capabilities,
  createTools,
  type Environment,
  GloveboxError,
  type ToolName,
  Type,
  toolNames,
} from "../../index.js";

/** How long commands may take, in seconds: what holds for a call that does not say, and what a call may ask for. */
export interface BashTimeout {
  readonly defaultSeconds: number;
  readonly maximumSeconds: number;
}

/** Most clients give a call 60 s and then forget it, with everything it had to say. */
export const DEFAULT_BASH_TIMEOUT: BashTimeout = { defaultSeconds: 50, maximumSeconds: 50 };

export interface McpToolsOptions {
  /** Which of the seven, in this order. Default: all that the environment can run. */
  readonly names?: readonly ToolName[];
  /** Only those that change nothing. */
  readonly readOnly?: boolean;
  /** Default: 50 s for both. */
  readonly bashTimeout?: BashTimeout;
}

/**
 * The tools of one environment as an MCP server offers them: all seven unless narrowed, `bash` with a timeout that its
 * description states. Throws `invalid_argument` for a timeout out of range and for a tool that contradicts `readOnly`.
 */
export function mcpTools(environment: Environment, options: McpToolsOptions = {}): readonly AgentTool[] {
  const { readOnly = false, bashTimeout = DEFAULT_BASH_TIMEOUT } = options;
  const runnable = toolNames.filter((name) => name !== "bash" || environment.capabilities.exec);
  const tools = createTools(environment, { names: options.names ?? runnable });
  const changing = tools.filter(({ effect }) => effect !== "read").map(({ name }) => name);
  if (readOnly && options.names !== undefined && changing.length > 0) {
    throw new GloveboxError(
      "invalid_argument",
      `${changing.join(", ")} can change files, and the server is to be read-only. Leave one out.`,
    );
  }
  const bash = bindTool(boundedBash(bashTimeout), environment);
  return tools.filter(({ effect }) => !readOnly || effect === "read").map((tool) => (tool.name === "bash" ? bash : tool));
}

/** The same tools bound to nowhere: for their names, descriptions and parameters, where each caller has a place of his own. */
export function listedTools(options: McpToolsOptions): readonly AgentTool[] {
  return mcpTools({ id: "", cwd: "/", capabilities: { exec: true } as Capabilities } as Environment, options);
}

function boundedBash({ defaultSeconds, maximumSeconds }: BashTimeout): typeof bashTool {
  if (!(defaultSeconds > 0 && defaultSeconds <= maximumSeconds && maximumSeconds <= 2_147_483)) {
    const message = `bash cannot have a default timeout of ${defaultSeconds} s and a maximum of ${maximumSeconds} s: give seconds above 0, the maximum no smaller than the default, and 2147483 at most.`;
    throw new GloveboxError("invalid_argument", message);
  }
  const description = `Seconds after which the command and all it started are killed (default: ${defaultSeconds}, at most ${maximumSeconds})`;
  return {
    ...bashTool,
    description:
      `${bashTool.description} A command that is still running after ${defaultSeconds} seconds is killed, unless timeout says otherwise (${maximumSeconds} at most), and what it printed until then is returned. ` +
      "Start longer work in the background with its output sent to a file (command > log 2>&1 &), and look at the file later.",
    parameters: Type.Object(
      {
        command: bashTool.parameters.properties.command,
        timeout: Type.Optional(Type.Number({ minimum: 0.001, maximum: maximumSeconds, description })),
      },
      { additionalProperties: false },
    ),
    run: (parameters, context) => bashTool.run({ ...parameters, timeout: parameters.timeout ?? defaultSeconds }, context),
  };
}
