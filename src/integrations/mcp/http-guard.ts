import type { IncomingMessage } from "node:http";
import { isJsonContentType } from "@modelcontextprotocol/server";
import type { Caller } from "./caller.js";
import { tooLargeText } from "./limits.js";
import type { TokenVerifier } from "./tokens.js";

/** An answer that turns a request down. */
export interface Refusal {
  readonly status: number;
  /** Of the JSON-RPC error. Default -32000. */
  readonly code?: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Admission =
  | { readonly caller: Caller }
  | { readonly refusal: Refusal }
  /** A browser asks, on behalf of a page whose origin is allowed, whether it may send the real request. */
  | { readonly preflight: true }
  | { readonly metrics: true };

export interface GuardOptions {
  readonly path: string;
  /** `Host` header values, lower-case, port included where a client would send one. */
  readonly hosts: ReadonlySet<string>;
  /** `Origin` header values. */
  readonly origins: ReadonlySet<string>;
  readonly verify: TokenVerifier;
  /** For the page of metrics, where there is one. */
  readonly verifyMetrics: TokenVerifier | undefined;
  readonly maxBodyBytes: number;
}

const METRICS_PATH = "/metrics";

/**
 * Decides on a request by its first line and headers alone, before a byte of its body is read. Host and origin come before
 * the token: a page in a browser that guesses our address learns nothing.
 */
export function admit(request: IncomingMessage, { path, hosts, origins, verify, verifyMetrics, maxBodyBytes }: GuardOptions): Admission {
  const { method, url = "", headers, headersDistinct } = request;
  if (headersDistinct.host?.length !== 1 || !hosts.has((headers.host ?? "").toLowerCase())) {
    return refuse(
      403,
      "The Host header names none of this server's hosts. Use the address that it printed when it started, or allow the host.",
    );
  }
  if (headers.origin !== undefined && !origins.has(headers.origin)) {
    return refuse(403, "Requests from this origin are not taken. Allow the origin if the page is yours.");
  }
  const asked = url.split("?", 1)[0];
  const verifier = asked === path ? verify : asked === METRICS_PATH ? verifyMetrics : undefined;
  if (verifier === undefined) return refuse(404, `There is nothing here: the server is at ${path}.`);
  if (asked === path && method === "OPTIONS" && headers.origin !== undefined) return { preflight: true };
  const authorizations = headersDistinct.authorization ?? [];
  const caller = authorizations.length === 1 ? verifier(authorizations[0]) : undefined;
  if (caller === undefined) {
    return refuse(401, "A bearer token is needed: send the header Authorization: Bearer TOKEN.", {
      "WWW-Authenticate": 'Bearer realm="glovebox"',
    });
  }
  if (asked !== path) return method === "GET" || method === "HEAD" ? { metrics: true } : refuse(405, "Use GET.", { Allow: "GET, HEAD" });
  // Nothing is ever sent that answers no request, so a stream that waits for such would only hold a connection.
  if (method !== "POST" && method !== "DELETE") return refuse(405, "Use POST.", { Allow: "POST, DELETE" });
  if (method === "POST" && !isJsonContentType(headers["content-type"] ?? null))
    return refuse(415, "The Content-Type must be application/json.");
  if (headers["content-encoding"] !== undefined) return refuse(415, "The body must not be compressed: leave Content-Encoding out.");
  if (Number(headers["content-length"] ?? 0) > maxBodyBytes) return refuse(413, tooLargeText(maxBodyBytes));
  return { caller };
}

function refuse(status: number, message: string, headers?: Readonly<Record<string, string>>): Admission {
  return { refusal: { status, message, ...(headers === undefined ? {} : { headers }) } };
}

/** The hosts and origins by which a server on this address is known on its own machine. */
export function loopbackNames(port: number): { readonly hosts: readonly string[]; readonly origins: readonly string[] } {
  const names = ["127.0.0.1", "localhost", "[::1]"];
  const hosts = names.flatMap((name) => (port === 80 ? [name, `${name}:80`] : [`${name}:${port}`]));
  return { hosts, origins: hosts.map((host) => `http://${host}`) };
}

/** 127.0.0.0/8, ::1 and localhost. */
export function isLoopback(host: string): boolean {
  return /^(127(\.\d{1,3}){3}|\[?::1\]?|localhost)$/i.test(host);
}
