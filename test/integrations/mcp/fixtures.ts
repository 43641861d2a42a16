import { PassThrough } from "node:stream";
import { Client, type ClientOptions, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { memory } from "../../../adapters/memory/index.js";
import { type AgentTool, bindTool, defineTool, type Environment, openEnvironment, type ToolDefinition, Type } from "../../../src/index.js";
import {
  acceptedToken,
  createMcpServer,
  type HttpListener,
  type HttpOptions,
  type McpServer,
  type McpServerOptions,
  mcpTools,
} from "../../../src/integrations/mcp/index.js";

/** The two protocol eras; a client that negotiates gets the newer one. */
export const ERAS = ["2026-07-28", "2025-11-25"] as const;
export type Era = (typeof ERAS)[number];
export const WIRES = ["stdio", "http"] as const;
export type Wire = (typeof WIRES)[number];
export const EVERY_WAY = WIRES.flatMap((wire) => ERAS.map((era) => ({ wire, era })));

export const TOKEN = "token-of-alice-0123456789";
export const OTHER_TOKEN = "token-of-bob-0123456789";
export const tokens = [acceptedToken(TOKEN, { name: "alice" }), acceptedToken(OTHER_TOKEN, { name: "bob" })];

const open: (() => Promise<unknown>)[] = [];

/** For afterEach: closes what a test opened, the last first. */
export async function closeAll(): Promise<void> {
  for (const close of open.splice(0).reverse()) await close();
}

export function whenDone(close: () => Promise<unknown>): void {
  open.push(close);
}

export async function openMemory(seed: Readonly<Record<string, string>> = {}): Promise<Environment> {
  const environment = await openEnvironment(memory());
  whenDone(() => environment.close());
  for (const [path, text] of Object.entries(seed)) await environment.writeFile(path, Buffer.from(text));
  return environment;
}

export function serve(options: Partial<McpServerOptions> & Pick<McpServerOptions, "target" | "targets">): McpServer {
  const server = createMcpServer({ info: { name: "test", version: "1" }, ...options });
  whenDone(() => server.close());
  return server;
}

/** A server over memory, with these files. */
export async function serveMemory(
  seed: Readonly<Record<string, string>> = {},
  options: Partial<McpServerOptions> = {},
): Promise<McpServer> {
  const environment = await openMemory(seed);
  return serve({ target: { tools: mcpTools(environment) }, ...options });
}

export async function listen(server: McpServer, options: Partial<HttpOptions> = {}): Promise<HttpListener> {
  return await server.serveHttp({ tokens, ...options });
}

export interface Connected {
  readonly client: Client;
  /** Everything that the server wrote, for stdio. */
  readonly written: () => string;
  readonly disconnect: () => Promise<void>;
}

/** The official client, connected to the server by that wire in that era. */
export async function connect(
  server: McpServer,
  { wire, era }: { readonly wire: Wire; readonly era: Era },
  options: ClientOptions = {},
): Promise<Connected> {
  if (wire === "http") {
    const { url } = await listen(server);
    return await connectHttp(url, era, TOKEN, options);
  }
  const input = new PassThrough();
  const output = new PassThrough();
  const chunks: Buffer[] = [];
  output.on("data", (chunk: Buffer) => chunks.push(chunk));
  server.serveStdio({ streams: { input, output } });
  const client = newClient(era, options);
  await client.connect(lineTransport(output, input));
  whenDone(() => client.close());
  return { client, written: () => Buffer.concat(chunks).toString(), disconnect: async () => void input.end() };
}

export async function connectHttp(url: string, era: Era, token: string = TOKEN, options: ClientOptions = {}): Promise<Connected> {
  const client = newClient(era, options);
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }));
  whenDone(() => client.close());
  return { client, written: () => "", disconnect: () => client.close() };
}

export function newClient(era: Era, options: ClientOptions = {}): Client {
  const versionNegotiation = era === "2026-07-28" ? { versionNegotiation: { mode: "auto" as const } } : {};
  return new Client({ name: "test-client", version: "1" }, { ...versionNegotiation, ...options });
}

/** What the client's own stdio transport does, over streams of this process. */
function lineTransport(from: PassThrough, to: PassThrough): Transport {
  let rest = "";
  const transport: Transport = {
    async start() {
      from.on("data", (chunk: Buffer) => {
        const lines = (rest + chunk.toString("utf8")).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) transport.onmessage?.(JSON.parse(line));
      });
    },
    async send(message) {
      to.write(`${JSON.stringify(message)}\n`);
    },
    async close() {
      to.end();
      transport.onclose?.();
    },
  };
  return transport;
}

/** The text of a result, or of its error. */
export function textOf(result: unknown): string {
  const { content = [] } = result as { readonly content?: readonly { readonly type: string; readonly text?: string }[] };
  return content.map(({ type, text }) => text ?? `[${type}]`).join("\n");
}

const noteSchema = Type.Object({ note: Type.Optional(Type.String()) }, { additionalProperties: false });

/** A tool that does what the test says. */
export function tool(
  name: string,
  run: ToolDefinition<typeof noteSchema>["run"],
  extra: Partial<ToolDefinition<typeof noteSchema>> & { readonly environmentId?: string } = {},
): AgentTool {
  const { environmentId = "here", ...rest } = extra;
  const definition = defineTool<typeof noteSchema, unknown>({
    name,
    label: name,
    description: `Notes, as ${name}.`,
    parameters: noteSchema,
    effect: "read",
    promptSnippet: name,
    promptGuidelines: [],
    run,
    ...rest,
  });
  return bindTool(definition, { id: environmentId, cwd: "/" });
}

/** Resolves when it is told to. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let release: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { opened, open: () => release() };
}

/** Waits until `check` holds; a liveness deadline, not a measurement. */
export async function eventually(check: () => boolean | Promise<boolean>, deadlineMs = 15_000): Promise<void> {
  const end = performance.now() + deadlineMs;
  while (!(await check())) {
    if (performance.now() > end) throw new Error(`not within ${deadlineMs} ms: ${check}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
