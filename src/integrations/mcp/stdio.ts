import type { Readable, Writable } from "node:stream";
import type { Server } from "@modelcontextprotocol/server";
import { serveStdio as serveSdk } from "@modelcontextprotocol/server/stdio";
import { guardStdout } from "./guard-stdout.js";
import { CLOSING_GRACE_MS, MAX_MESSAGE_BYTES } from "./limits.js";
import { createStdioTransport } from "./stdio-transport.js";

export interface StdioOptions {
  /** Default: this process's own, with standard output guarded against everyone else who prints. */
  readonly streams?: { readonly input: Readable; readonly output: Writable };
  /** Default 8 MiB. */
  readonly maxMessageBytes?: number;
}

export interface StdioConnection {
  /** Resolves when the client has gone away or `close` was called. Its calls have been told to stop then. */
  readonly closed: Promise<void>;
  /** Lets what is being answered have its answer, for a moment, then ends the connection. */
  close(): Promise<void>;
}

/** Serves one client. The first message decides which revision of the protocol is spoken. */
export function serveStdio(createServer: () => Server, options: StdioOptions, onError: (error: Error) => void): StdioConnection {
  const { maxMessageBytes = MAX_MESSAGE_BYTES, streams } = options;
  const { input, output } = streams ?? { input: process.stdin, output: process.stdout };
  // Never given back: whoever prints while the process ends would still be heard by the client.
  const write = streams === undefined ? guardStdout().write : (text: string) => output.write(text);
  let onEnd: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => {
    onEnd = resolve;
  });
  const transport = createStdioTransport({ input, output, write, maxMessageBytes, onEnd: () => onEnd() });
  const handle = serveSdk(createServer, { transport, onerror: onError });
  return {
    closed,
    async close() {
      await transport.answered(CLOSING_GRACE_MS);
      await handle.close();
    },
  };
}
