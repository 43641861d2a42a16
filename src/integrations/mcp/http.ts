import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createMcpHandler, isLegacyRequest, type Server } from "@modelcontextprotocol/server";
import { GloveboxError } from "../../index.js";
import { type Caller, callerId, toAuthInfo } from "./caller.js";
import { readJson, sendRefusal, sendResponse, toWebRequest } from "./http-exchange.js";
import { admit, isLoopback, loopbackNames } from "./http-guard.js";
import { createSessions } from "./http-sessions.js";
import { CLOSING_GRACE_MS, MAX_CALLS_PER_CALLER, MAX_MESSAGE_BYTES } from "./limits.js";
import { type AcceptedToken, createTokenVerifier } from "./tokens.js";

export interface HttpOptions {
  /** Default 127.0.0.1. Any address that is not of this machine alone needs `allowedHosts`. */
  readonly host?: string;
  /** Default 0: one that is free. */
  readonly port?: number;
  /** At least one: there is no way in without a token. */
  readonly tokens: readonly AcceptedToken[];
  /** Prometheus' text, at /metrics. Default: there is nothing. */
  readonly metrics?: MetricsPage;
  /** Values of the Host header beyond this machine's own names: `box.example:8080`. */
  readonly allowedHosts?: readonly string[];
  /** Web pages that may call: `https://app.example`. */
  readonly allowedOrigins?: readonly string[];
  /** Default 8 MiB. */
  readonly maxBodyBytes?: number;
  /** For the headers of a request. Default 10,000. */
  readonly headersTimeoutMs?: number;
  /** For a whole request, body included. Default 30,000. */
  readonly requestTimeoutMs?: number;
  /** For a connection on which nothing moves. Default 120,000; calls that run longer send comments meanwhile. */
  readonly idleTimeoutMs?: number;
  /** Default 256. */
  readonly maxConnections?: number;
  /** Requests of one user that are open at a time. Default 128. */
  readonly maxRequestsPerCaller?: number;
  /** Sessions of one user, for clients of the 2025 revisions. Default 256. */
  readonly maxSessionsPerCaller?: number;
  /** After which a session of a 2025 client that does nothing ends. Default half an hour. */
  readonly sessionIdleMs?: number;
}

export interface MetricsPage {
  /** Who may read it. Users' tokens are not good there, nor these for calls. */
  readonly tokens: readonly AcceptedToken[];
  /** Text format 0.0.4, such as a fleet's `metrics()`. */
  text(): string;
}

export interface HttpListener {
  readonly url: string;
  readonly port: number;
  /** Takes no more requests, lets those that are being answered have their answer, then closes every connection. */
  close(): Promise<void>;
}

const PATH = "/mcp";

/** Serves any number of clients of both revisions. Throws `invalid_argument` for an address that would be open without being meant to. */
export async function serveHttp(createServer: () => Server, options: HttpOptions, onError: (error: Error) => void): Promise<HttpListener> {
  const { host = "127.0.0.1", allowedHosts = [], allowedOrigins = [], maxBodyBytes = MAX_MESSAGE_BYTES } = options;
  const { headersTimeoutMs = 10_000, requestTimeoutMs = 30_000, maxRequestsPerCaller = MAX_CALLS_PER_CALLER } = options;
  checkAddress(host, options);
  const modern = createMcpHandler(createServer, { legacy: "reject", onerror: onError });
  const sessions = createSessions({
    createServer,
    maxSessions: 1024,
    maxSessionsPerCaller: options.maxSessionsPerCaller ?? 256,
    idleMs: options.sessionIdleMs ?? 1_800_000,
  });
  const verify = createTokenVerifier(options.tokens);
  const { metrics } = options;
  const verifyMetrics = metrics && createTokenVerifier(metrics.tokens);
  const hosts = new Set(allowedHosts.map((name) => name.toLowerCase()));
  const origins = new Set(allowedOrigins);
  const open = new Map<string, number>();
  const calls = new Set<Promise<void>>();

  const serve = async (request: IncomingMessage, response: ServerResponse, caller: Caller): Promise<void> => {
    const gone = new AbortController();
    const over = new Promise<void>((resolve) => {
      response.once("close", () => {
        if (!response.writableFinished) gone.abort(new GloveboxError("aborted", "The client went away."));
        resolve();
      });
    });
    const id = callerId(caller);
    const mine = open.get(id) ?? 0;
    if (mine >= maxRequestsPerCaller) {
      const message = `This user has ${mine} requests open, and more are not taken. Wait for some of them.`;
      sendRefusal(response, { status: 429, message, headers: { "Retry-After": "1" } });
      return;
    }
    open.set(id, mine + 1);
    void over.then(() => {
      const left = (open.get(id) ?? 1) - 1;
      if (left === 0) open.delete(id);
      else open.set(id, left);
    });
    const read = request.method === "POST" ? await readJson(request, maxBodyBytes) : { value: undefined };
    if ("refusal" in read) {
      sendRefusal(response, read.refusal);
      return;
    }
    const { value } = read;
    if (isCall(value)) {
      calls.add(over);
      void over.then(() => calls.delete(over));
    }
    const asked = toWebRequest(request, gone.signal);
    const answer = (await isLegacyRequest(asked, value))
      ? await sessions.handle(asked, value, caller, over)
      : await modern.fetch(asked, { authInfo: toAuthInfo(caller), parsedBody: value });
    await sendResponse(response, answer, gone.signal);
  };

  const server = createHttpServer({ connectionsCheckingInterval: Math.min(1_000, headersTimeoutMs) }, (request, response) => {
    if (request.headers.origin !== undefined && origins.has(request.headers.origin)) allowOrigin(response, request.headers.origin);
    const admission = admit(request, { path: PATH, hosts, origins, verify, verifyMetrics, maxBodyBytes });
    if ("preflight" in admission) {
      response.writeHead(204).end();
      return;
    }
    if ("refusal" in admission) {
      sendRefusal(response, admission.refusal);
      return;
    }
    const answered = "metrics" in admission ? sendMetrics(response, metrics) : serve(request, response, admission.caller);
    answered.catch((error: unknown) => {
      if (response.destroyed) return;
      onError(error instanceof Error ? error : new Error(String(error)));
      sendRefusal(response, { status: 500, code: -32603, message: "The server failed to answer this request." });
    });
  });
  server.headersTimeout = headersTimeoutMs;
  server.requestTimeout = requestTimeoutMs;
  server.timeout = options.idleTimeoutMs ?? 120_000;
  server.maxConnections = options.maxConnections ?? 256;

  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(cannotListen(host, options.port, error)));
    server.listen(options.port ?? 0, host.replace(/^\[(.*)\]$/, "$1"), resolve);
  });
  const { port, address, family } = server.address() as AddressInfo;
  if (isLoopback(host)) {
    const names = loopbackNames(port);
    for (const name of names.hosts) hosts.add(name);
    for (const name of names.origins) origins.add(name);
  }
  return {
    url: `http://${family === "IPv6" ? `[${address}]` : address}:${port}${PATH}`,
    port,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      await atMost(CLOSING_GRACE_MS, Promise.all(calls));
      await modern.close();
      await sessions.close();
      await atMost(CLOSING_GRACE_MS, closed);
      server.closeAllConnections();
      await closed;
    },
  };
}

function checkAddress(host: string, { tokens, allowedHosts = [] }: HttpOptions): void {
  if (tokens.length === 0) throw new GloveboxError("invalid_argument", "An HTTP server needs a token: without one nobody could call it.");
  if (isLoopback(host) || allowedHosts.length > 0) return;
  const message = `${host} can be reached from other machines. Name the hosts by which clients will call it (allowedHosts, --allow-host), and put a proxy that speaks TLS before it; or listen on 127.0.0.1.`;
  throw new GloveboxError("invalid_argument", message);
}

async function sendMetrics(response: ServerResponse, metrics: MetricsPage | undefined): Promise<void> {
  const body = Buffer.from(metrics?.text() ?? "");
  response.writeHead(200, { "Content-Type": "text/plain; version=0.0.4; charset=utf-8", "Content-Length": body.length });
  response.end(body);
}

function allowOrigin(response: ServerResponse, origin: string): void {
  response.setHeader("Access-Control-Allow-Origin", origin);
  response.setHeader("Vary", "Origin");
  response.setHeader("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate");
  response.setHeader(
    "Access-Control-Allow-Headers",
    "Authorization, Content-Type, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID",
  );
  response.setHeader("Access-Control-Allow-Methods", "POST, DELETE");
}

function cannotListen(host: string, port: number | undefined, error: Error): GloveboxError {
  const { code } = error as NodeJS.ErrnoException;
  const why = code === "EADDRINUSE" ? "something else listens there" : code === "EACCES" ? "this user may not" : error.message;
  return new GloveboxError("invalid_argument", `Cannot listen on ${host}:${port ?? 0}: ${why}. Choose another address.`, { cause: error });
}

function isCall(body: unknown): boolean {
  return [body].flat().some((message) => (message as { readonly method?: unknown } | null)?.method === "tools/call");
}

async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
