import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type Implementation,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { GloveboxError } from "../../index.js";
import { callerOf } from "./caller.js";
import type { Calls } from "./calls.js";

/** How long a client may take to put a question to a person; the older revision holds the call open meanwhile. */
const QUESTION_TIMEOUT_MS = 300_000;
/** Tools do not change while a server runs; a new one may have others. */
const LIST_TTL_MS = 60_000;

export interface ProtocolOptions {
  readonly info: Implementation;
  readonly instructions: string | undefined;
  readonly calls: Calls;
  readonly onError: (error: Error) => void;
}

/**
 * One protocol instance: for a connection, a session or a single request, as its transport has it. It holds nothing: all
 * that is shared is in `calls`. When its connection closes, the calls that came over it are aborted.
 */
export function createProtocolServer({ info, instructions, calls, onError }: ProtocolOptions): Server {
  const connection = new AbortController();
  const server = new Server(info, {
    capabilities: { tools: {} },
    ...(instructions === undefined ? {} : { instructions }),
    cacheHints: { "tools/list": { ttlMs: LIST_TTL_MS, cacheScope: "private" } },
    requestState: { verify: calls.approvals.verify },
    inputRequired: { roundTimeoutMs: QUESTION_TIMEOUT_MS },
    // The SDK's own costs milliseconds to make. Arguments are validated by the scheduler, answers to questions have no fields.
    jsonSchemaValidator: { getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }) },
  });
  server.setRequestHandler("tools/list", (_request, context) => ({ tools: [...calls.list(callerOf(context))] }));
  server.setRequestHandler("tools/call", (request, context) =>
    calls.call(request.params, {
      caller: callerOf(context),
      context,
      capabilities: capabilitiesOf(server, context),
      connection: connection.signal,
    }),
  );
  server.onclose = () => connection.abort(new GloveboxError("aborted", "The client went away."));
  server.onerror = onError;
  return server;
}

/** Each request of the newer revision says what its client can do; in the older one the handshake did. */
function capabilitiesOf(server: Server, { mcpReq }: ServerContext): ClientCapabilities | undefined {
  const envelope = mcpReq.envelope as Readonly<Record<string, ClientCapabilities | undefined>> | undefined;
  return envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities();
}
