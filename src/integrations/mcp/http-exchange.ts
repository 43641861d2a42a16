import type { IncomingMessage, ServerResponse } from "node:http";
import type { Refusal } from "./http-guard.js";
import { tooLargeText } from "./limits.js";

/** Answers with a JSON-RPC error that belongs to no request. */
export function sendRefusal(response: ServerResponse, { status, code = -32000, message, headers }: Refusal): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { "Content-Type": "application/json", ...headers });
  response.end(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } }));
}

/** The body as a JSON value, or why there is none. Stops reading at `maxBytes`. Rejects when the client goes away. */
export async function readJson(
  request: IncomingMessage,
  maxBytes: number,
): Promise<{ readonly value: unknown } | { readonly refusal: Refusal }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // What is left of the body is thrown away as it comes, within the time that a request may take.
    if (bytes <= maxBytes) chunks.push(chunk);
    else chunks.length = 0;
  }
  if (bytes > maxBytes) return { refusal: { status: 413, message: tooLargeText(maxBytes) } };
  try {
    return { value: JSON.parse(Buffer.concat(chunks).toString("utf8")) as unknown };
  } catch {
    return { refusal: { status: 400, code: -32700, message: "The body is not JSON." } };
  }
}

/** The request as the SDK takes it: without its body, which is passed parsed. */
export function toWebRequest(request: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(request.headersDistinct)) {
    if (name !== "authorization") for (const value of values) headers.append(name, value);
  }
  return new Request(`http://${request.headers.host}${request.url}`, { method: request.method ?? "POST", headers, signal });
}

/** Writes the SDK's answer, as fast as the client reads. `signal` fires when it has gone away. */
export async function sendResponse(response: ServerResponse, answer: Response, signal: AbortSignal): Promise<void> {
  if (response.destroyed) return;
  const streaming = answer.headers.get("content-type")?.startsWith("text/event-stream") === true;
  if (answer.body === null || !streaming) {
    const body = Buffer.from(await answer.arrayBuffer());
    response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), "Content-Length": body.length });
    response.end(body);
    return;
  }
  const together = oneWriteAtATime(response);
  together();
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.flushHeaders();
  const reader = answer.body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      together();
      if (!response.write(next.value)) await drained(response);
    }
  } catch {
    // The client reads what came until now, and that the stream ended too early.
    response.destroy();
  } finally {
    signal.removeEventListener("abort", cancel);
    together();
    response.end();
  }
}

/** What is written before the event loop turns goes out as one: a short answer has its head, body and end in one packet. */
function oneWriteAtATime(response: ServerResponse): () => void {
  let held = false;
  return () => {
    if (held) return;
    held = true;
    response.cork();
    setImmediate(() => {
      held = false;
      response.uncork();
    });
  };
}

async function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
  });
}
