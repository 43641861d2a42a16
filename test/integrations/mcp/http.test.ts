import { readFile } from "node:fs/promises";
import { request } from "node:http";
import { connect as connectSocket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { textResult } from "../../../src/index.js";
import { closeAll, connectHttp, eventually, gate, listen, OTHER_TOKEN, serve, serveMemory, TOKEN, textOf, tool } from "./fixtures.js";
import { INITIALIZE, MODERN_META, rawHttp } from "./raw.js";

afterEach(closeAll);

const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: MODERN_META } };

/** One request with exactly these headers, Host included. */
function ask(
  url: string,
  headers: Readonly<Record<string, string | readonly string[]>>,
  path = "/mcp",
  method = "POST",
): Promise<{ status: number; body: string }> {
  const { port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: "127.0.0.1", port, path, method, headers: { ...headers } as Record<string, string | string[]> },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }));
      },
    );
    sent.on("error", reject);
    sent.end(method === "POST" ? JSON.stringify(LIST) : undefined);
  });
}

const good = (url: string) => ({
  host: new URL(url).host,
  authorization: `Bearer ${TOKEN}`,
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/list",
});

describe("A01 the address", () => {
  it("is this machine's own by default, in the kernel's books too", async () => {
    const { port, url } = await listen(await serveMemory());
    expect(url).toBe(`http://127.0.0.1:${port}/mcp`);
    const hex = port.toString(16).toUpperCase().padStart(4, "0");
    const listening = (await Promise.all(["/proc/net/tcp", "/proc/net/tcp6"].map((file) => readFile(file, "utf8")))).join("\n");
    const lines = listening.split("\n").filter((line) => line.includes(`:${hex} `) && / 0A /.test(line));
    expect(lines.map((line) => line.trim().split(/\s+/)[1])).toEqual([`0100007F:${hex}`]);
  });

  it.each(["0.0.0.0", "::", "192.0.2.1", "box.example"])("is not %s unless hosts are named", async (host) => {
    await expect(listen(await serveMemory(), { host })).rejects.toMatchObject({ code: "invalid_argument" });
  });

  it("is any, for those who know its name and have a token", async () => {
    const { url } = await listen(await serveMemory(), { host: "0.0.0.0", allowedHosts: ["Box.example:80"] });
    expect((await ask(url, { ...good(url), host: "box.example:80" })).status).toBe(200);
    expect((await ask(url, good(url))).status).toBe(403);
    await expect(listen(await serveMemory(), { host: "127.0.0.1", tokens: [] })).rejects.toThrow("An HTTP server needs a token");
  });

  it("is refused in words where it is taken", async () => {
    const { port } = await listen(await serveMemory());
    await expect(listen(await serveMemory(), { port })).rejects.toThrow(
      `Cannot listen on 127.0.0.1:${port}: something else listens there.`,
    );
  });
});

describe("what is turned down before the body is read", () => {
  it.each(["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example", "127.0.0.1.evil.example"])(
    "A02 the host %j",
    async (host) => {
      const { url } = await listen(await serveMemory());
      const { status } = await ask(url, { ...good(url), host });
      expect(status).toBe(403);
    },
  );

  it.each(["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])("A02 but not %s with our port", async (name) => {
    const { url, port } = await listen(await serveMemory());
    expect((await ask(url, { ...good(url), host: `${name}:${port}` })).status).toBe(200);
  });

  it.each(["http://evil.example", "null", "http://127.0.0.1", "https://localhost", "file://", "http://localhost.evil.example"])(
    "A03 the origin %j",
    async (origin) => {
      const { url } = await listen(await serveMemory());
      expect((await ask(url, { ...good(url), origin })).status).toBe(403);
    },
  );

  it("A03 but not an origin that was allowed, whose browser is told so", async () => {
    const origin = "https://app.example";
    const { url } = await listen(await serveMemory(), { allowedOrigins: [origin] });
    const { authorization, ...preflight } = good(url);
    expect((await ask(url, { ...preflight, origin }, "/mcp", "OPTIONS")).status).toBe(204);
    expect((await ask(url, { ...preflight, origin: "https://other.example" }, "/mcp", "OPTIONS")).status).toBe(403);
    expect((await ask(url, { ...good(url), origin })).status).toBe(200);
    expect((await ask(url, { ...preflight, origin })).status).toBe(401);
    expect(authorization).toBeDefined();
  });

  it("A04 a request without a token, or with it in the query", async () => {
    const { url } = await listen(await serveMemory());
    const { authorization: _left, ...headers } = good(url);
    expect(await ask(url, headers)).toMatchObject({ status: 401, body: expect.stringContaining("A bearer token is needed") });
    expect((await ask(url, headers, `/mcp?token=${TOKEN}`)).status).toBe(401);
    expect((await ask(url, headers, `/mcp?access_token=${TOKEN}`)).status).toBe(401);
    expect((await ask(url, headers, "/mcp", "GET")).status).toBe(401);
  });

  it("A04 and does not wait for that body", async () => {
    const { port } = await listen(await serveMemory());
    const socket = connectSocket(port, "127.0.0.1");
    socket.write(`POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{`);
    const [first] = await new Promise<Buffer[]>((resolve) => socket.once("data", (chunk: Buffer) => resolve([chunk])));
    socket.destroy();
    expect(first?.toString()).toMatch(/^HTTP\/1\.1 401 /);
  });

  it.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonp", ""])(
    "A05 the content type %j",
    async (type) => {
      const { url } = await listen(await serveMemory());
      expect((await ask(url, { ...good(url), "content-type": type })).status).toBe(415);
    },
  );

  it("other paths, methods and encodings", async () => {
    const { url } = await listen(await serveMemory());
    expect((await ask(url, good(url), "/")).status).toBe(404);
    expect((await ask(url, good(url), "/mcp/../mcp")).status).toBe(404);
    expect((await ask(url, good(url), "/mcp", "PUT")).status).toBe(405);
    expect((await ask(url, good(url), "/mcp", "GET")).status).toBe(405);
    expect((await ask(url, { ...good(url), "content-encoding": "gzip" })).status).toBe(415);
  });
});

describe("J10 the token", () => {
  const values: readonly (readonly [what: string, value: string | readonly string[]])[] = [
    ["empty", "Bearer "],
    ["a prefix of the real one", `Bearer ${TOKEN.slice(0, -1)}`],
    ["longer than the real one", `Bearer ${TOKEN}x`],
    ["in other case", `Bearer ${TOKEN.toUpperCase()}`],
    ["behind another scheme", `Basic ${TOKEN}`],
    ["behind two schemes", `Bearer Bearer ${TOKEN}`],
    ["with another behind it", `Bearer ${TOKEN}, Bearer ${OTHER_TOKEN}`],
    ["sent twice", [`Bearer ${TOKEN}`, `Bearer ${TOKEN}`]],
    ["bare", TOKEN],
  ];
  it.each(values)("is refused when %s", async (_what, authorization) => {
    const { url } = await listen(await serveMemory());
    expect((await ask(url, { ...good(url), authorization })).status).toBe(401);
  });

  it("is refused a megabyte long, and the server lives", async () => {
    const { url } = await listen(await serveMemory());
    const { status } = await ask(url, { ...good(url), authorization: `Bearer ${"x".repeat(1024 * 1024)}` }).catch(() => ({ status: 431 }));
    expect(status).toBe(431);
    expect((await ask(url, good(url))).status).toBe(200);
  });

  it("opens the sessions of its user, and of nobody else: A08", async () => {
    const { url } = await listen(await serveMemory());
    const alice = rawHttp(url, TOKEN);
    const { session } = await alice.ask(INITIALIZE);
    expect(Buffer.from(session, "base64url").length * 8).toBeGreaterThanOrEqual(128);
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const mine = await alice.ask(list, { "mcp-session-id": session });
    expect(mine.status).toBe(200);
    const stolen = await rawHttp(url, OTHER_TOKEN).ask(list, { "mcp-session-id": session });
    const invented = await rawHttp(url, OTHER_TOKEN).ask(list, { "mcp-session-id": "x".repeat(43) });
    expect([stolen.status, stolen.error]).toEqual([404, invented.error]);
    expect(
      (await fetch(url, { method: "DELETE", headers: { authorization: `Bearer ${OTHER_TOKEN}`, "mcp-session-id": session } })).status,
    ).toBe(404);
    expect((await fetch(url, { method: "DELETE", headers: { authorization: `Bearer ${TOKEN}`, "mcp-session-id": session } })).status).toBe(
      200,
    );
    expect((await alice.ask(list, { "mcp-session-id": session })).status).toBe(404);
  });
});

describe("A06 a body that is too large", () => {
  it.each([true, false])("is refused in words, its length declared: %s", async (declared) => {
    const { url } = await listen(await serveMemory(), { maxBodyBytes: 100_000 });
    const text = JSON.stringify({ ...LIST, filler: "x".repeat(300_000) });
    const body = declared ? text : new Blob([text]).stream();
    const response = await fetch(url, { method: "POST", headers: { ...good(url), host: "" }, body, ...({ duplex: "half" } as object) });
    expect([response.status, await response.json()]).toEqual([
      413,
      {
        jsonrpc: "2.0",
        id: null,
        error: {
          code: -32000,
          message: "The message is larger than the 0.1 MiB that this server takes. Send the content in smaller parts.",
        },
      },
    ]);
    expect((await ask(url, good(url))).status).toBe(200);
  });
});

describe("A09 slow and silent connections", () => {
  it("are closed when headers or bodies do not arrive, and others are served meanwhile", async () => {
    const { port, url } = await listen(await serveMemory(), { headersTimeoutMs: 300, requestTimeoutMs: 600 });
    const drip = (first: string): Promise<string> =>
      new Promise((resolve) => {
        const socket = connectSocket(port, "127.0.0.1");
        let read = "";
        socket.on("data", (chunk: Buffer) => {
          read += chunk.toString();
        });
        socket.on("error", () => undefined);
        const timer = setInterval(() => socket.write("x"), 50);
        socket.on("close", () => {
          clearInterval(timer);
          resolve(read);
        });
        socket.write(first);
      });
    const headers = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\n`;
    const slow = [drip("POST /mcp HTTP/1.1\r\nX: "), drip(`${headers}Content-Length: 100000\r\n\r\n`)];
    expect((await ask(url, good(url))).status).toBe(200);
    const answers = await Promise.all(slow);
    expect(answers.map((answer) => answer.split("\r\n")[0])).toEqual(["HTTP/1.1 408 Request Timeout", "HTTP/1.1 408 Request Timeout"]);
  });

  it("are closed when nothing moves", async () => {
    const { port } = await listen(await serveMemory(), { idleTimeoutMs: 200 });
    const socket = connectSocket(port, "127.0.0.1");
    await new Promise((resolve) => socket.once("close", resolve));
  });

  it("are not taken beyond a number", async () => {
    const { port, url } = await listen(await serveMemory(), { maxConnections: 3 });
    const sockets = Array.from({ length: 3 }, () => connectSocket(port, "127.0.0.1"));
    await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once("connect", resolve))));
    const fourth = connectSocket(port, "127.0.0.1");
    fourth.on("error", () => undefined);
    await new Promise((resolve) => fourth.once("close", resolve));
    for (const socket of sockets) socket.destroy();
    await eventually(async () => (await ask(url, good(url)).catch(() => ({ status: 0 }))).status === 200);
  });
});

describe("J08 too much at once", () => {
  it("is refused beyond the requests that one user may have open, and other users are served", async () => {
    const held = gate();
    const server = serve({ target: { tools: [tool("wait", () => held.opened.then(() => textResult("done")))] } });
    const { url } = await listen(server, { maxRequestsPerCaller: 20 });
    const alice = rawHttp(url, TOKEN);
    const call = (id: number) => ({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: { name: "wait", arguments: {}, _meta: MODERN_META },
    });
    const statuses: string[] = [];
    const answers = Array.from({ length: 100 }, async (_, id) => {
      const { status, error } = await alice.ask(call(id));
      statuses.push(`${status} ${error?.message ?? ""}`);
    });
    await eventually(() => server.running === 20 && statuses.length === 80);
    const bob = rawHttp(url, OTHER_TOKEN);
    const other = bob.ask(call(1));
    await eventually(() => server.running === 21);
    held.open();
    expect(textOf((await other).result)).toBe("done");
    await Promise.all(answers);
    expect(new Set(statuses)).toEqual(
      new Set(["200 ", "429 This user has 20 requests open, and more are not taken. Wait for some of them."]),
    );
    expect(statuses.filter((status) => status === "200 ")).toHaveLength(20);
  });

  it("is refused beyond the sessions that one user may have", async () => {
    const { url } = await listen(await serveMemory(), { maxSessionsPerCaller: 5 });
    const alice = rawHttp(url, TOKEN);
    const answers = [];
    for (let index = 0; index < 6; index += 1) answers.push(await alice.ask(INITIALIZE));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
    expect(answers[5]?.error?.message).toBe("There are 5 sessions of this user open, and more are not taken now. End one with DELETE.");
    expect((await rawHttp(url, OTHER_TOKEN).ask(INITIALIZE)).status).toBe(200);
  });

  it("ends sessions that do nothing", async () => {
    const { url } = await listen(await serveMemory(), { sessionIdleMs: 100 });
    const { ask: askAlice } = rawHttp(url, TOKEN);
    const { session } = await askAlice(INITIALIZE);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    expect((await askAlice(list, { "mcp-session-id": session })).status).toBe(404);
  });
});

describe("closing", () => {
  it("answers what runs, and leaves no connection", async () => {
    const server = await serveMemory();
    const { url, port } = await listen(server);
    const { client } = await connectHttp(url, "2025-11-25");
    await client.listTools();
    const { client: listening } = await connectHttp(url, "2026-07-28");
    const silent = connectSocket(port, "127.0.0.1");
    const closed = new Promise((resolve) => silent.once("close", resolve));
    await listening.listTools();
    await server.close();
    await closed;
    await expect(fetch(url)).rejects.toThrow();
  });
});
