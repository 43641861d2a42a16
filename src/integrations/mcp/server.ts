import type { Implementation, Server } from "@modelcontextprotocol/server";
import { type AfterToolCall, type Ask, type BeforeToolCall, GloveboxError, type GloveboxEvent } from "../../index.js";
import { createCalls } from "./calls.js";
import { type HttpListener, type HttpOptions, serveHttp } from "./http.js";
import { MAX_CALLS_PER_CALLER } from "./limits.js";
import { ONLY_PLACE } from "./offers.js";
import { createProtocolServer } from "./protocol.js";
import { type StdioConnection, type StdioOptions, serveStdio } from "./stdio.js";
import type { McpTarget, OwnTargets } from "./targets.js";
import { DEFAULT_BASH_TIMEOUT } from "./tools.js";

export interface McpServerOptions {
  /** How the server names itself. */
  readonly info: Implementation;
  /** The only place: tools take no argument that chooses it. Give this, `targets` or `ownTargets`. */
  readonly target?: McpTarget;
  /** Several places by name: every tool takes a required `target`, and nothing stands in for one that is left out. */
  readonly targets?: Readonly<Record<string, McpTarget>>;
  /** A place for each caller, which he alone can reach: `fleetTargets(fleet)`. Closing the server gives them back. */
  readonly ownTargets?: OwnTargets;
  /** For the model: what these tools act on. */
  readonly instructions?: string;
  readonly beforeToolCall?: BeforeToolCall | readonly BeforeToolCall[];
  readonly afterToolCall?: AfterToolCall | readonly AfterToolCall[];
  /** Puts a hook's question to a person. Default: through the client, which has to support elicitation. */
  readonly ask?: Ask;
  /** Calls that execute at the same time on one environment. Default: no limit. */
  readonly concurrency?: number;
  /** Calls of one client or user that wait or run at the same time. Default 128. */
  readonly maxCallsPerCaller?: number;
  /** For a call, waiting included; it ends with what it has by then. Default 55,000: most clients wait for 60 s. */
  readonly callTimeoutMs?: number;
  /** Output schemas and structured content, for tools that say what their details are. Default true. */
  readonly structured?: boolean;
  /** Events of all calls. Call ids begin with the caller's name: `alice:17`. */
  readonly onEvent?: (event: GloveboxEvent) => void;
  /** Out-of-band errors of connections. Default: nobody is told. */
  readonly onError?: (error: Error) => void;
}

export interface McpServer {
  /** Serves one client over streams, by default this process's own; then standard output is guarded. */
  serveStdio(options?: StdioOptions): StdioConnection;
  /** Serves any number of clients over HTTP, each with a token. */
  serveHttp(options: HttpOptions): Promise<HttpListener>;
  /** A protocol instance for a transport of the caller's. */
  createProtocolServer(): Server;
  /** Calls that run or wait. */
  readonly running: number;
  /** Stops every call, waits until it has, and closes all connections. The environments stay the caller's. */
  close(): Promise<void>;
}

/** An MCP server over tools. Throws `invalid_argument` for tools that collide and for options that contradict each other. */
export function createMcpServer(options: McpServerOptions): McpServer {
  const { info, instructions, onError = () => undefined } = options;
  const { ownTargets } = options;
  const calls = createCalls({
    targets: targetsOf(options),
    ownTargets,
    structured: options.structured ?? true,
    beforeToolCall: [options.beforeToolCall ?? []].flat(),
    afterToolCall: [options.afterToolCall ?? []].flat(),
    ask: options.ask,
    concurrency: options.concurrency,
    callTimeoutMs: options.callTimeoutMs ?? (DEFAULT_BASH_TIMEOUT.maximumSeconds + 5) * 1000,
    maxCallsPerCaller: options.maxCallsPerCaller ?? MAX_CALLS_PER_CALLER,
    onEvent: options.onEvent,
  });
  const connections = new Set<{ close(): Promise<void> }>();
  const newServer = (): Server => createProtocolServer({ info, instructions, calls, onError });
  return {
    createProtocolServer: newServer,
    get running() {
      return calls.running;
    },
    serveStdio(stdio = {}) {
      const connection = serveStdio(newServer, stdio, onError);
      connections.add(connection);
      return connection;
    },
    async serveHttp(http) {
      const listener = await serveHttp(newServer, http, onError);
      connections.add(listener);
      return listener;
    },
    async close() {
      await calls.stop(new GloveboxError("aborted", "The call was stopped: the server is shutting down.", { retrySafe: false }));
      await Promise.all([ownTargets?.close(), ...[...connections].map((connection) => connection.close())]);
    },
  };
}

function targetsOf({ target, targets, ownTargets }: McpServerOptions): ReadonlyMap<string, McpTarget> {
  if ([target, targets, ownTargets].filter((given) => given !== undefined).length !== 1) {
    const message = "An MCP server has one target, or several by name, or one for each caller. Give one of target, targets and ownTargets.";
    throw new GloveboxError("invalid_argument", message);
  }
  if (ownTargets !== undefined) return new Map([[ONLY_PLACE, { tools: ownTargets.tools }]]);
  if (target !== undefined) return new Map([[ONLY_PLACE, target]]);
  const named = new Map(Object.entries(targets ?? {}));
  const wrong = [...named.keys()].find((name) => !/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name));
  if (wrong !== undefined || named.size === 0) {
    const what = wrong === undefined ? "There is no target" : `${JSON.stringify(wrong)} cannot be the name of a target`;
    throw new GloveboxError("invalid_argument", `${what}. Names are letters, digits, dots, dashes and underscores, like web or box-2.`);
  }
  return named;
}
