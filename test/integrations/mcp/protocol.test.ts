import { afterEach, describe, expect, it } from "vitest";
import { closeAll, listen, serveMemory, TOKEN, textOf } from "./fixtures.js";
import { INITIALIZE, MODERN_META, rawHttp, rawStdio } from "./raw.js";

afterEach(closeAll);

const call = (id: unknown, name: string, args: unknown) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args, _meta: MODERN_META },
});

/** Arguments that are refused, and the field that the refusal names. */
const WRONG: readonly (readonly [args: unknown, field: string])[] = [
  [{}, "path: expected a string, received nothing"],
  [{ path: "a.txt", extra: 1 }, "extra: expected no such field"],
  [{ path: 7 }, "path: expected a string, received 7"],
  [{ path: ["a"] }, "path: expected a string, received an array of 1"],
  [{ path: { a: 1 } }, "path: expected a string, received an object"],
  [{ path: null }, "path: expected a string, received null"],
  [{ path: true }, "path: expected a string, received true"],
  [JSON.parse('{"__proto__":{"x":1},"path":"a.txt"}'), "__proto__: expected no such field"],
  [JSON.parse('{"constructor":{"prototype":{"x":1}},"path":"a.txt"}'), "constructor: expected no such field"],
];

describe.each(["stdio", "http"] as const)("over %s", (wire) => {
  const open = async () => {
    const server = await serveMemory({ "a.txt": "hello\n" });
    return wire === "stdio" ? rawStdio(server) : rawHttp((await listen(server)).url, TOKEN);
  };

  it.each(WRONG)("A07 J01 J02 refuses the arguments %j and names the field", async (args, field) => {
    const { ask } = await open();
    const { result, error } = await ask(call(1, "read", args));
    // The SDK drops a key of that name when it parses a message: to us it was never there.
    if (field.startsWith("__proto__") && error === undefined && result?.isError === false) return;
    expect(result).toMatchObject({ isError: true });
    expect(textOf(result)).toContain(field);
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });

  it.each([["a string"], [[1]], [7], [null]])("J01 refuses %j instead of arguments", async (args) => {
    const { ask } = await open();
    const { error } = await ask(call(1, "read", args));
    expect(error?.code).toBe(-32602);
  });

  it("A07 J06 answers an unknown tool and an unknown method with protocol errors", async () => {
    const { ask } = await open();
    expect((await ask(call(1, "rm", {}))).error).toEqual({
      code: -32602,
      message: 'There is no tool named "rm". The tools here: read, edit, write, grep, find, ls.',
    });
    expect((await ask({ ...call(2, "read", {}), method: "tools/destroy" })).error?.code).toBe(-32601);
    expect((await ask(call(3, "read", { path: "a.txt" }))).result).toMatchObject({ isError: false });
  });

  it("J06 answers a wrong protocol version", async () => {
    const { ask } = await open();
    const meta = { ...MODERN_META, "io.modelcontextprotocol/protocolVersion": "1999-01-01" };
    const { error } = await ask(
      { jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: meta } },
      { "mcp-protocol-version": "1999-01-01" },
    );
    expect(error?.code).toBe(-32022);
  });

  it("J04 refuses nesting and keys without end, in bounded time, and lives", async () => {
    const { askText, ask } = await open();
    const deep = `${"[".repeat(10_000)}${"]".repeat(10_000)}`;
    const text = (value: string) => JSON.stringify(call(1, "read", "HERE")).replace('"HERE"', value);
    const nested = await askText(text(`{"path":${deep}}`));
    expect(textOf(nested.result)).toContain("path: expected");
    const keys = Array.from({ length: 400_000 }, (_, index) => `"k${index}":1`).join(",");
    expect(textOf((await askText(text(`{"path":"a.txt",${keys}}`))).result)).toContain("no more than 100000 values");
    expect((await ask(call(2, "read", { path: "a.txt" }))).result).toMatchObject({ isError: false });
  });

  it("J04 A06 refuses a message over 8 MiB, says so, and answers the next one", async () => {
    const { askText, ask } = await open();
    const content = "x".repeat(9 * 1024 * 1024);
    const refused = await askText(JSON.stringify({ ...call(7, "write", { path: "big.txt", content }) }));
    expect(refused.error?.message).toBe("The message is larger than the 8 MiB that this server takes. Send the content in smaller parts.");
    expect((await ask(call(8, "ls", {}))).result).toMatchObject({ isError: false, structuredContent: { total: 1 } });
  });

  it("J06 ignores a notification that has a result, and a response to nothing", async () => {
    const { send, ask } = await open();
    await send({ jsonrpc: "2.0", method: "notifications/initialized", result: {} });
    await send({ jsonrpc: "2.0", id: 99, result: {} });
    expect((await ask(call(1, "read", { path: "a.txt" }))).result).toMatchObject({ isError: false });
  });

  it("J07 ignores cancelling what is not there, twice, and what is over", async () => {
    const { send, ask } = await open();
    const cancel = (requestId: unknown) => ({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId, _meta: MODERN_META },
    });
    expect((await ask(call(1, "read", { path: "a.txt" }))).result).toMatchObject({ isError: false });
    for (const id of [1, 1, 12345, "none", null, 1.5, undefined]) await send(cancel(id));
    expect((await ask(call(2, "read", { path: "a.txt" }))).result).toMatchObject({ isError: false });
  });
});

describe("over stdio", () => {
  it("J06 answers an id that is in use, batches, and what is no message, and goes on", async () => {
    const { sendText, ask, next } = rawStdio(await serveMemory({ "a.txt": "hello\n" }));
    expect((await ask(INITIALIZE)).result).toMatchObject({ protocolVersion: "2025-11-25" });
    const list = JSON.stringify({ jsonrpc: "2.0", id: 5, method: "tools/list" });
    sendText(
      `${list}\n${list}\n[${list}]\n{"jsonrpc":"2.0","id":null,"method":"tools/list"}\n{"jsonrpc":"1.0","id":6,"method":"tools/list"}\nnonsense\n\n`,
    );
    const answers = [await next(), await next(), await next(), await next(), await next(), await next()];
    const errors = answers.filter(({ error }) => error !== undefined).map(({ id, error }) => [id, error?.code]);
    expect(errors).toEqual([
      [5, -32600],
      [null, -32600],
      [null, -32600],
      [6, -32600],
      [null, -32700],
    ]);
    expect(answers.find(({ result }) => result !== undefined)).toMatchObject({ id: 5, result: { tools: { length: 6 } } });
  });

  it("A06 finds the id of a message that is too long, wherever the client wrote it", async () => {
    const { askText } = rawStdio(await serveMemory());
    const filler = "y".repeat(9 * 1024 * 1024);
    for (const text of [
      `{"jsonrpc":"2.0","id":"first","method":"tools/call","params":{"name":"write","arguments":{"content":"${filler}"}}}`,
      `{"method":"tools/call","params":{"name":"write","arguments":{"content":"${filler}"}},"jsonrpc":"2.0","id":12}`,
    ]) {
      const { id, error } = await askText(text);
      expect([id, error?.code]).toEqual([text.includes("first") ? "first" : 12, -32600]);
    }
  });

  it("takes a message that comes in pieces, cut inside a character", async () => {
    const { sendBytes, next } = rawStdio(await serveMemory({ "ä€😀.txt": "hello\n" }));
    const bytes = Buffer.from(`${JSON.stringify(call(1, "read", { path: "ä€😀.txt" }))}\r\n`);
    for (const byte of bytes) sendBytes(Buffer.from([byte]));
    expect((await next()).result).toMatchObject({ isError: false, structuredContent: { text: "hello" } });
  });
});

describe("over HTTP", () => {
  it("J06 wants a session for what is not self-contained: tools/call before initialize", async () => {
    const { ask } = rawHttp((await listen(await serveMemory())).url, TOKEN);
    const { status, error } = await ask({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "ls", arguments: {} } });
    expect([status, error?.message]).toEqual([
      400,
      "This needs a session: send initialize first, then its Mcp-Session-Id with every request.",
    ]);
  });

  it("J06 answers an id that is in use, in a batch and across requests", async () => {
    const { ask, askText } = rawHttp((await listen(await serveMemory())).url, TOKEN);
    const session = (await ask(INITIALIZE)).session;
    const list = { jsonrpc: "2.0", id: 5, method: "tools/list" };
    const twice = await askText(JSON.stringify([list, list]), { "mcp-session-id": session });
    expect([twice.status, twice.error?.code]).toEqual([400, -32600]);
    expect((await ask(list, { "mcp-session-id": session })).result).toMatchObject({ tools: { length: 6 } });
  });

  it.each(["", "{", "null x", '{"jsonrpc":"2.0"', "\u0000"])("answers %j with a parse error", async (text) => {
    const { askText } = rawHttp((await listen(await serveMemory())).url, TOKEN);
    const { status, error } = await askText(text);
    expect([status, error?.code]).toEqual([400, -32700]);
  });
});
