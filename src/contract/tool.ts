import { type MutationOptions, withMutationKeys } from "./mutation-queue.js";
import type { Sha256 } from "./operations.js";
import { compileValidator, type JsonSchema, type Static, type TObject, type Validator } from "./schema.js";
import type { Place } from "./target.js";

export interface TextContent {
  readonly type: "text";
  readonly text: string;
}

export interface ImageContent {
  readonly type: "image";
  /** Base64. */
  readonly data: string;
  readonly mimeType: string;
}

export type Content = TextContent | ImageContent;

/** What a call comes to. An error is a result too, and can carry details. */
export interface ToolResult<Details = unknown> {
  readonly content: readonly Content[];
  /** The same facts as data, JSON-safe. For an error made from a GloveboxError: `{ error: { code, … } }` among the rest. */
  readonly details?: Details;
  readonly isError: boolean;
  /** Asks the agent's loop to end; heeded only if every result of the batch asks it. */
  readonly terminate?: boolean;
}

/** One call as a model proposed it. */
export interface ToolCall {
  /** Unique in its batch. */
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
}

/** What a model sees of a tool. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema that every model provider takes: an object, `additionalProperties: false`, descriptions on every field. */
  readonly parameters: JsonSchema;
}

export interface ExecuteOptions {
  /** The call's id. */
  readonly id: string;
  readonly signal: AbortSignal;
  /** Reports progress. Dropped once the call has settled. */
  onUpdate(update: ToolResult): void;
  /**
   * What the file that this call writes must hold: its SHA-256, or null for "no such file". Set by a caller or a hook that
   * has seen the file; a mismatch is final (`conflict`). Without it, `edit` guards its own read and `write` overwrites.
   */
  readonly ifMatch?: Sha256 | null;
  /** Told when the call waits for another's write to the same file. */
  onQueued?(key: string, waiting: number): void;
}

/** What the tool does to its target: the source of MCP's hints and of read-only sets. */
export type ToolEffect = "read" | "write" | "execute";

/** A tool that can be run: bound to its environment, validated, safe without a scheduler. */
export interface AgentTool<Parameters = unknown> extends Tool {
  /** For people. */
  readonly label: string;
  readonly effect: ToolEffect;
  /** JSON Schema of the `details` of its results that are no errors: for hosts that publish what a tool answers with. */
  readonly detailsSchema?: JsonSchema;
  /** "sequential" makes its environment's part of a batch run one by one. Default "parallel". */
  readonly executionMode?: "parallel" | "sequential";
  /** The environment it acts on: `Place.id`. Absent for a tool bound to none (asking the user, say). */
  readonly environmentId?: string;
  /** Folds what models do instead of what the schema says, before validation. Must not throw. */
  prepareArguments?(raw: unknown): unknown;
  readonly validate: Validator<Parameters>;
  /** Rejects with a GloveboxError, or resolves with a result; both are fine, and a result may be an error. */
  execute(parameters: Parameters, options: ExecuteOptions): Promise<ToolResult>;
  readonly promptSnippet?: string;
  readonly promptGuidelines?: readonly string[];
  renderCall?(parameters: Parameters, style: RenderStyle): string;
  renderResult?(result: ToolResult, style: RenderStyle): string;
}

export interface RenderStyle {
  /** ANSI colours; control characters of the content are escaped either way. */
  readonly ansi: boolean;
}

export interface ToolContext<Operations> extends ExecuteOptions {
  readonly operations: Operations;
  /** Where the operations act. Injected operations that do not say act in "/". */
  readonly place: Pick<Place, "id" | "cwd"> & Partial<Place>;
}

/** A tool before it has an environment: written against the least operations it needs. */
export interface ToolDefinition<Parameters extends TObject = TObject, Details = unknown, Operations = object>
  extends Omit<AgentTool<Static<Parameters>>, "parameters" | "validate" | "execute" | "environmentId"> {
  readonly parameters: Parameters;
  /** One line for a system prompt's list of tools. */
  readonly promptSnippet: string;
  /** Each names the tool, since they are printed without it. */
  readonly promptGuidelines: readonly string[];
  /** The files it writes: the bound tool runs alone among the writers of each. */
  writes?(parameters: Static<Parameters>): readonly string[];
  run(parameters: Static<Parameters>, context: ToolContext<Operations>): Promise<ToolResult<Details>>;
}

/** Types a definition by what it says. */
export function defineTool<Parameters extends TObject, Details, Operations = object>(
  definition: ToolDefinition<Parameters, Details, Operations>,
): ToolDefinition<Parameters, Details, Operations> {
  return definition;
}

type Bindable = Partial<Place> & { mutationKey?(path: string): string };

/**
 * A definition and its operations make a tool: an Environment, or, in a test, two functions. The bound tool takes the
 * mutation-queue keys of what it writes, so it is as safe without a scheduler as with one.
 */
export function bindTool<Parameters extends TObject, Details, Operations extends object>(
  definition: ToolDefinition<Parameters, Details, Operations>,
  operations: Operations & Bindable,
): AgentTool<Static<Parameters>> {
  const { run, writes, parameters, ...rest } = definition;
  const place = placeOf(operations);
  return {
    ...rest,
    parameters,
    validate: compileValidator(parameters),
    ...(operations.id === undefined ? {} : { environmentId: operations.id }),
    async execute(values, options) {
      const job = () => run.call(definition, values, { ...options, operations, place });
      const keys = (writes?.call(definition, values) ?? []).map((path) => mutationKeyOf(operations, path));
      return keys.length === 0 ? await job() : await withMutationKeys(keys, job, options);
    },
  };
}

/**
 * Runs `job` alone among all writers of `path` on that environment: for custom tools that read, change and write a file.
 * Several paths are taken together, without a deadlock whatever their order. Re-entrant: inside a bound tool that writes
 * the same path it runs at once. See `withMutationKeys` for what an abort does.
 */
export async function withFileMutationQueue<T>(
  environment: Bindable & object,
  path: string | readonly string[],
  job: () => Promise<T>,
  options: MutationOptions = {},
): Promise<T> {
  const paths = typeof path === "string" ? [path] : path;
  return await withMutationKeys(
    paths.map((one) => mutationKeyOf(environment, one)),
    job,
    options,
  );
}

function mutationKeyOf(operations: Bindable & object, path: string): string {
  if (operations.mutationKey !== undefined) return operations.mutationKey(path);
  const { id, cwd } = placeOf(operations);
  return `${id}:${lexicalPath(cwd, path)}`;
}

/** `path` made absolute and free of `.`, `..` and empty components, without looking at any disk. */
export function lexicalPath(cwd: string, path: string): string {
  const parts: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${cwd}/${path}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

const injected = new WeakMap<object, string>();
let injectedCount = 0;

function placeOf(operations: Bindable & object): ToolContext<object>["place"] {
  let id = operations.id ?? injected.get(operations);
  if (id === undefined) {
    injectedCount += 1;
    id = `injected:${injectedCount}`;
    injected.set(operations, id);
  }
  const { cwd = "/", root, home, spoolDirectory } = operations;
  return { id, cwd, ...(root && { root }), ...(home && { home }), ...(spoolDirectory && { spoolDirectory }) };
}
