import { randomUUID } from "node:crypto";
import {
  type AgentTool,
  compileValidator,
  type ExecuteOptions,
  GloveboxError,
  type JsonSchema,
  type ToolResult,
  Type,
  textResult,
} from "../../index.js";
import { type ForeignContent, toContent } from "./foreign-content.js";

/** The part of the official SDK's `Client` that is used. */
export interface McpToolClient {
  listTools(params?: { readonly cursor?: string }, options?: { readonly signal?: AbortSignal }): Promise<ForeignToolPage>;
  callTool(
    params: { name: string; arguments?: Record<string, unknown> },
    options?: {
      readonly signal?: AbortSignal;
      readonly timeout?: number;
      readonly resetTimeoutOnProgress?: boolean;
      readonly onprogress?: (progress: { readonly progress: number; readonly total?: number; readonly message?: string }) => void;
    },
  ): Promise<unknown>;
}

export interface ForeignToolPage {
  readonly tools: readonly ForeignTool[];
  readonly nextCursor?: string;
}

export interface ForeignTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: unknown;
  readonly annotations?: {
    readonly title?: string;
    readonly readOnlyHint?: boolean;
    readonly destructiveHint?: boolean;
    readonly idempotentHint?: boolean;
  };
}

export interface ToolsFromMcpOptions {
  /** Put before each name, so that two servers' tools can live together. */
  readonly prefix?: string;
  /** Which of the server's tools. Default: all. */
  readonly names?: readonly string[];
  /** For one call, from its start or its last sign of progress. Default 300,000. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** Pages of one listing: more, and the server is going round in circles. */
const MAX_PAGES = 64;

/**
 * Another MCP server's tools, for a scheduler of ours: hooks see their calls, errors come back as results, and a tool that
 * does not say that it only reads (or says that it destroys, and differently each time) is sequential: it vetoes parallel
 * calls on that server. The server checks the arguments; what it claims about its tools is taken as a hint only for when
 * calls run. Rejects `invalid_argument` for names that it does not have, and whatever listing the tools rejects with.
 */
export async function toolsFromMcp(client: McpToolClient, options: ToolsFromMcpOptions = {}): Promise<readonly AgentTool[]> {
  const { prefix = "", names, timeoutMs = 300_000, signal } = options;
  const all = await listAll(client, signal);
  const missing = names?.find((name) => !all.some((tool) => tool.name === name));
  if (missing !== undefined) {
    throw new GloveboxError(
      "invalid_argument",
      `The server has no tool ${JSON.stringify(missing)}. It has ${all.map(({ name }) => name).join(", ") || "none"}.`,
    );
  }
  const environmentId = `mcp:${randomUUID()}`;
  return all
    .filter(({ name }) => names?.includes(name) ?? true)
    .map((tool) => toAgentTool(client, tool, `${prefix}${tool.name}`, environmentId, timeoutMs));
}

async function listAll(client: McpToolClient, signal: AbortSignal | undefined): Promise<readonly ForeignTool[]> {
  const found = new Map<string, ForeignTool>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { tools, nextCursor } = await client.listTools(
      cursor === undefined ? undefined : { cursor },
      signal === undefined ? undefined : { signal },
    );
    for (const tool of tools) found.set(tool.name, tool);
    if (nextCursor === undefined) return [...found.values()];
    cursor = nextCursor;
  }
  throw new GloveboxError("too_large", `The server's list of tools has more than ${MAX_PAGES} pages. Nothing was taken from it.`);
}

/** Bounds and copies the arguments; what is in them is the server's to check. */
const validateObject = compileValidator(Type.Object({}));

function toAgentTool(client: McpToolClient, tool: ForeignTool, name: string, environmentId: string, timeoutMs: number): AgentTool {
  const { title, description = "", annotations = {} } = tool;
  const { readOnlyHint = false, destructiveHint = !readOnlyHint, idempotentHint = false } = annotations;
  return {
    name,
    label: title ?? annotations.title ?? tool.name,
    description,
    parameters: tool.inputSchema as JsonSchema,
    effect: readOnlyHint ? "read" : "execute",
    executionMode: !readOnlyHint || (destructiveHint && !idempotentHint) ? "sequential" : "parallel",
    environmentId,
    validate: validateObject,
    async execute(given, { signal, onUpdate }: ExecuteOptions): Promise<ToolResult> {
      let answer: unknown;
      try {
        answer = await client.callTool(
          { name: tool.name, arguments: given as Record<string, unknown> },
          { signal, timeout: timeoutMs, resetTimeoutOnProgress: true, onprogress: ({ message }) => onUpdate(textResult(message ?? "")) },
        );
      } catch (error) {
        throw toGloveboxError(error, name, signal, readOnlyHint || idempotentHint);
      }
      return toToolResult(answer);
    },
  };
}

function toToolResult(answer: unknown): ToolResult {
  const { content, structuredContent, isError } = (answer ?? {}) as {
    readonly content?: unknown;
    readonly structuredContent?: unknown;
    readonly isError?: unknown;
  };
  const items = (Array.isArray(content) ? content : []).filter((item): item is ForeignContent => typeof item === "object" && item !== null);
  const shown = items.length === 0 && structuredContent !== undefined ? [{ type: "text", text: JSON.stringify(structuredContent) }] : items;
  return {
    content: shown.map(toContent),
    ...(structuredContent === undefined ? {} : { details: structuredContent }),
    isError: isError === true,
  };
}

/** -32602 is how a server refuses arguments; whatever else goes wrong on the way leaves open what the call did. */
const INVALID_PARAMS = -32602;

function toGloveboxError(error: unknown, name: string, signal: AbortSignal, harmless: boolean): GloveboxError {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  const said = error instanceof Error ? error.message : String(error);
  if (signal.aborted) {
    const message = `${name} was told to stop. It runs on another server, which may have done part of it: check the state before you go on.`;
    return new GloveboxError("aborted", message, { cause: error, retrySafe: harmless });
  }
  if (code === INVALID_PARAMS) {
    return new GloveboxError(
      "invalid_argument",
      `${name} did not run: its server refused the call (${said}). Call it again with what its schema asks for.`,
      {
        cause: error,
        retrySafe: true,
      },
    );
  }
  if (typeof code === "number") {
    return new GloveboxError("unexpected", `${name} failed on its server: ${said}. Check the state before calling it again.`, {
      cause: error,
      retrySafe: harmless,
    });
  }
  const message = `${name} gave no answer: ${said}. Whether it ran is not known: check the state before calling it again.`;
  return new GloveboxError(harmless ? "disconnected" : "unknown_outcome", message, { cause: error, retrySafe: harmless });
}
