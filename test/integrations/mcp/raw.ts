import { PassThrough } from "node:stream";
import type { McpServer } from "../../../src/integrations/mcp/index.js";

export interface Answer {
  readonly id?: unknown;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}

export interface HttpAnswer extends Answer {
  readonly status: number;
  readonly session: string;
}

/** What a client of the newer revision says with every request. */
export const MODERN_META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

export const INITIALIZE = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};

/** Speaks to a stdio server line by line, well-formed or not. */
export function rawStdio(server: McpServer) {
  const input = new PassThrough();
  const output = new PassThrough();
  const answers: Answer[] = [];
  const waiting: ((answer: Answer) => void)[] = [];
  let rest = "";
  output.on("data", (chunk: Buffer) => {
    const lines = (rest + chunk.toString("utf8")).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const answer = JSON.parse(line) as Answer;
      const next = waiting.shift();
      if (next === undefined) answers.push(answer);
      else next(answer);
    }
  });
  server.serveStdio({ streams: { input, output } });
  const next = (): Promise<Answer> => {
    const answer = answers.shift();
    return answer === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(answer);
  };
  const sendText = (text: string): void => void input.write(text);
  const askText = async (text: string, _headers: Readonly<Record<string, string>> = {}): Promise<Answer> => {
    sendText(`${text}\n`);
    return await next();
  };
  return {
    next,
    sendText,
    sendBytes: (bytes: Buffer): void => void input.write(bytes),
    end: (): void => void input.end(),
    askText,
    /** Answers to others that come meanwhile are dropped. */
    async ask(message: unknown, _headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
      sendText(`${JSON.stringify(message)}\n`);
      for (;;) {
        const answer = await next();
        if (answer.id === (message as Answer).id) return answer;
      }
    },
    send: async (message: unknown): Promise<void> => sendText(`${JSON.stringify(message)}\n`),
  };
}

/** Speaks HTTP to a server, well-formed or not. */
export function rawHttp(url: string, token: string) {
  const askText = async (text: string, headers: Readonly<Record<string, string>> = {}): Promise<HttpAnswer> => {
    const modern = text.includes("io.modelcontextprotocol/protocolVersion") ? modernHeaders(text) : {};
    const response = await fetch(url, {
      method: "POST",
      body: text,
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...modern,
        ...headers,
      },
    });
    const body = await response.text();
    const answer = body.startsWith("event:") ? (/^data: (.*)$/m.exec(body)?.[1] ?? "{}") : body || "{}";
    return { ...(JSON.parse(answer) as Answer), status: response.status, session: response.headers.get("mcp-session-id") ?? "" };
  };
  const ask = (message: unknown, headers: Readonly<Record<string, string>> = {}) => askText(JSON.stringify(message), headers);
  return { askText, ask, send: async (message: unknown): Promise<void> => void (await ask(message)) };
}

/** The newer revision repeats in headers what a request is about. */
function modernHeaders(text: string): Record<string, string> {
  const method = /"method":"([^"]*)"/.exec(text)?.[1] ?? "";
  const name = /"params":\{"name":"([^"]*)"/.exec(text)?.[1];
  return { "mcp-protocol-version": "2026-07-28", "mcp-method": method, ...(name === undefined ? {} : { "mcp-name": name }) };
}
