import { randomBytes } from "node:crypto";
import { isInitializeRequest, type RequestId, type Server, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { type Caller, callerId, toAuthInfo } from "./caller.js";

/** One client of the 2025 revisions, from its handshake on. */
interface Session {
  readonly id: string;
  readonly caller: Caller;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly running: Set<RequestId>;
  /** Exchanges that are open: it is not idle then. */
  open: number;
  lastUsedMs: number;
}

export interface SessionsOptions {
  readonly createServer: () => Server;
  readonly maxSessions: number;
  readonly maxSessionsPerCaller: number;
  readonly idleMs: number;
}

export interface Sessions {
  /**
   * Serves one exchange. `request.signal` fires when the client has gone away before it was answered: what it asked for is
   * aborted then. `over` resolves when the exchange is, either way.
   */
  handle(request: Request, body: unknown, caller: Caller, over: Promise<void>): Promise<Response>;
  readonly size: number;
  close(): Promise<void>;
}

/**
 * The sessions of clients that speak a 2025 revision: they can be asked questions and can cancel, so their calls need a
 * place to find them. A session belongs to the user whose token opened it; to everyone else it does not exist.
 */
export function createSessions({ createServer, maxSessions, maxSessionsPerCaller, idleMs }: SessionsOptions): Sessions {
  const sessions = new Map<string, Session>();
  const sweep = setInterval(
    () => {
      const oldest = performance.now() - idleMs;
      for (const session of sessions.values()) if (session.open === 0 && session.lastUsedMs < oldest) void session.transport.close();
    },
    Math.min(idleMs, 60_000),
  );
  sweep.unref();

  const openSession = async (caller: Caller): Promise<Session> => {
    const id = randomBytes(32).toString("base64url");
    const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => id });
    const server = createServer();
    await server.connect(transport);
    const closed = transport.onclose;
    transport.onclose = () => {
      sessions.delete(id);
      closed?.();
    };
    const session: Session = { id, caller, transport, running: new Set(), open: 0, lastUsedMs: performance.now() };
    sessions.set(id, session);
    return session;
  };

  const find = (request: Request, body: unknown, caller: Caller): Session | Response | undefined => {
    const id = request.headers.get("mcp-session-id");
    if (id === null) {
      if (messagesOf(body).some((message) => isInitializeRequest(message))) return undefined;
      return refuse(400, -32000, "This needs a session: send initialize first, then its Mcp-Session-Id with every request.", body);
    }
    const session = sessions.get(id);
    return session !== undefined && callerId(session.caller) === callerId(caller)
      ? session
      : refuse(404, -32001, "There is no such session. Send initialize to start one.", body);
  };

  return {
    get size() {
      return sessions.size;
    },
    async handle(request, body, caller, over) {
      const found = find(request, body, caller);
      if (found instanceof Response) return found;
      if (found === undefined) {
        const mine = [...sessions.values()].filter((session) => callerId(session.caller) === callerId(caller)).length;
        if (sessions.size >= maxSessions || mine >= maxSessionsPerCaller) {
          return refuse(
            429,
            -32000,
            `There are ${mine} sessions of this user open, and more are not taken now. End one with DELETE.`,
            body,
          );
        }
      }
      const session = found ?? (await openSession(caller));
      const ids = messagesOf(body).flatMap((message) => requestIdOf(message) ?? []);
      if (new Set(ids).size !== ids.length || ids.some((id) => session.running.has(id))) {
        return refuse(400, -32600, "The id of this request belongs to one that still runs. Use another.", body);
      }
      const { transport } = session;
      session.lastUsedMs = performance.now();
      session.open += 1;
      for (const id of ids) session.running.add(id);
      const abort = (): void => {
        const method = "notifications/cancelled";
        for (const requestId of ids)
          transport.onmessage?.({ jsonrpc: "2.0", method, params: { requestId, reason: "The client went away." } });
      };
      request.signal.addEventListener("abort", abort, { once: true });
      void over.then(() => {
        request.signal.removeEventListener("abort", abort);
        for (const id of ids) session.running.delete(id);
        session.open -= 1;
        session.lastUsedMs = performance.now();
        // A handshake that was refused leaves a session that nobody can name.
        if (transport.sessionId === undefined) void transport.close();
      });
      return await transport.handleRequest(request, { authInfo: toAuthInfo(caller), ...(body === undefined ? {} : { parsedBody: body }) });
    },
    async close() {
      clearInterval(sweep);
      for (const { transport } of [...sessions.values()]) await transport.close();
    },
  };
}

function messagesOf(body: unknown): readonly unknown[] {
  return Array.isArray(body) ? body : [body];
}

function requestIdOf(message: unknown): RequestId | undefined {
  const { id, method } = (typeof message === "object" && message !== null ? message : {}) as {
    readonly id?: RequestId;
    readonly method?: unknown;
  };
  return typeof method === "string" ? id : undefined;
}

function refuse(status: number, code: number, message: string, body: unknown): Response {
  return Response.json({ jsonrpc: "2.0", id: requestIdOf(body) ?? null, error: { code, message } }, { status });
}
