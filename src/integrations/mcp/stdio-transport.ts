import type { Readable, Writable } from "node:stream";
import {
  isJSONRPCRequest,
  type JSONRPCMessage,
  ProtocolErrorCode,
  parseJSONRPCMessage,
  type RequestId,
  type Transport,
} from "@modelcontextprotocol/server";
import { tooLargeText } from "./limits.js";
import { createLineSplitter, findRequestId, type MessageLine } from "./message-lines.js";

export interface StdioTransportOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** Writes a message's bytes; false when the reader lags, as `Writable.write` has it. */
  readonly write: (text: string) => boolean;
  readonly maxMessageBytes: number;
  /** Called once, after the protocol has been told that the connection is gone. */
  readonly onEnd: () => void;
}

export interface StdioTransport extends Transport {
  /** Resolves when every request has been answered, or after `graceMs`. */
  answered(graceMs: number): Promise<void>;
}

/**
 * JSON-RPC, a message a line. What is no message is answered with the error that says so, as far as it can be told who
 * asked, and harms no other message: a line that is too long, is no JSON, no JSON-RPC, or reuses the id of a running request.
 */
export function createStdioTransport({ input, output, write, maxMessageBytes, onEnd }: StdioTransportOptions): StdioTransport {
  const split = createLineSplitter(maxMessageBytes);
  const running = new Set<RequestId>();
  let closed = false;
  let tellAnswered: (() => void) | undefined;

  const refuse = (id: RequestId | null, code: number, message: string): void => {
    if (!closed) write(`${JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } })}\n`);
  };
  const receive = (line: MessageLine): void => {
    if (line.kind === "too_long") {
      refuse(findRequestId(line.head, line.tail) ?? null, ProtocolErrorCode.InvalidRequest, tooLargeText(maxMessageBytes));
      return;
    }
    if (line.text.trim() === "") return;
    let value: unknown;
    try {
      value = JSON.parse(line.text);
    } catch {
      refuse(null, ProtocolErrorCode.ParseError, "This line is not JSON. Send one JSON-RPC message a line.");
      return;
    }
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(value);
    } catch {
      refuse(idOf(value), ProtocolErrorCode.InvalidRequest, "This is not a JSON-RPC 2.0 request, notification or response.");
      return;
    }
    if (isJSONRPCRequest(message)) {
      if (running.has(message.id)) {
        refuse(message.id, ProtocolErrorCode.InvalidRequest, "The id of this request belongs to one that still runs. Use another.");
        return;
      }
      running.add(message.id);
    } else if ("method" in message && message.method === "notifications/cancelled") {
      // It will not be answered any more.
      const cancelled = (message.params as { readonly requestId?: RequestId } | undefined)?.requestId;
      if (cancelled !== undefined) running.delete(cancelled);
    }
    transport.onmessage?.(message);
  };
  const onData = (chunk: Buffer): void => {
    for (const line of split(chunk)) receive(line);
  };
  const end = (): void => {
    if (closed) return;
    closed = true;
    input.off("data", onData);
    for (const name of ["end", "close", "error"]) input.off(name, end);
    input.pause();
    transport.onclose?.();
    tellAnswered?.();
    onEnd();
  };

  const transport: StdioTransport = {
    async start() {
      output.on("error", end);
      for (const name of ["end", "close", "error"]) input.on(name, end);
      if (input.readableEnded || input.destroyed) setImmediate(end);
      input.on("data", onData);
    },
    async send(message) {
      if (closed) return;
      const room = write(`${JSON.stringify(message)}\n`);
      if ("id" in message && !("method" in message) && message.id !== undefined) running.delete(message.id);
      if (running.size === 0) tellAnswered?.();
      if (!room) await drained(output);
    },
    async answered(graceMs) {
      if (running.size === 0 || closed) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, graceMs);
        tellAnswered = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
    async close() {
      end();
    },
  };
  return transport;
}

async function drained(output: Writable): Promise<void> {
  if (output.destroyed) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      for (const name of ["drain", "close", "error"]) output.off(name, done);
      resolve();
    };
    for (const name of ["drain", "close", "error"]) output.on(name, done);
  });
}

function idOf(value: unknown): RequestId | null {
  const { id } = (typeof value === "object" && value !== null ? value : {}) as { readonly id?: unknown };
  return typeof id === "string" || (typeof id === "number" && Number.isSafeInteger(id)) ? id : null;
}
