import { afterEach, describe, expect, it } from "vitest";
import { createScheduler, createToolRegistry, createTools, textResult } from "../../../src/index.js";
import { type ForeignTool, type McpToolClient, mcpTools, toolsFromMcp } from "../../../src/integrations/mcp/index.js";
import { closeAll, connect, ERAS, eventually, openMemory, serve, serveMemory, tool } from "./fixtures.js";

afterEach(closeAll);

const texts = (results: readonly { readonly content: readonly unknown[] }[]) =>
  results.map(({ content }) => content.map((item) => (item as { text?: string }).text));

describe.each(ERAS)("another server's tools, in %s", (era) => {
  it("run in our scheduler beside our own", async () => {
    const { client } = await connect(await serveMemory({ "a.txt": "theirs\n" }), { wire: "http", era });
    const ours = await openMemory({ "a.txt": "ours\n" });
    const registry = createToolRegistry([
      ...createTools(ours),
      ...(await toolsFromMcp(client, { prefix: "remote_", names: ["read", "write"] })),
    ]);
    const scheduler = createScheduler({ tools: registry.getAllTools() });
    const { results } = await scheduler.runBatch([
      { id: "1", name: "read", arguments: { path: "a.txt" } },
      { id: "2", name: "remote_read", arguments: { path: "a.txt" } },
      { id: "3", name: "remote_read", arguments: { path: "b.txt" } },
      { id: "4", name: "remote_read", arguments: { wrong: true } },
    ]);
    expect(texts(results.slice(0, 2))).toEqual([["ours"], ["theirs"]]);
    expect(results[1]).toMatchObject({ details: { path: "a.txt", bytes: 7 } });
    expect(results[2]).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("b.txt does not exist") }] });
    expect(results[3]).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("path: expected a string") }] });
  });

  it("pass our hooks, report progress and are told to stop", async () => {
    const stuck = tool("stuck", async (_given, { signal, onUpdate }) => {
      onUpdate(textResult("half"));
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      return textResult("late");
    });
    const server = serve({ target: { tools: [stuck] } });
    const { client } = await connect(server, { wire: "http", era });
    const updates: unknown[] = [];
    const controller = new AbortController();
    const scheduler = createScheduler({
      tools: await toolsFromMcp(client),
      beforeToolCall: ({ arguments: given }) =>
        (given as { note?: string }).note === "no" ? { block: true, reason: "not this" } : undefined,
      onEvent: (event) => {
        if (event.type !== "tool_execution_update") return;
        updates.push(...event.update.content);
        controller.abort();
      },
    });
    const { results } = await scheduler.runBatch(
      [
        { id: "1", name: "stuck", arguments: { note: "no" } },
        { id: "2", name: "stuck", arguments: {} },
      ],
      { signal: controller.signal },
    );
    expect(texts(results)[0]).toEqual(["stuck did not run: it was blocked: not this. Do not repeat the call as it is."]);
    expect(results[1]).toMatchObject({ isError: true, details: { error: { code: "aborted" } } });
    expect(updates).toEqual([{ type: "text", text: "half" }]);
    await eventually(() => server.running === 0);
  });
});

/** A server that answers as it is told. */
function fake(tools: readonly ForeignTool[], answer: () => unknown): McpToolClient {
  return { listTools: async () => ({ tools }), callTool: async () => answer() };
}

const listed = (name: string, annotations?: ForeignTool["annotations"]): ForeignTool => ({
  name,
  inputSchema: { type: "object" },
  annotations,
});

describe("toolsFromMcp", () => {
  it("makes sequential what does not say that it only reads, or destroys differently each time", async () => {
    const tools = await toolsFromMcp(
      fake(
        [
          listed("silent"),
          listed("reads", { readOnlyHint: true }),
          listed("writes", { readOnlyHint: false, idempotentHint: true }),
          listed("contradicts", { readOnlyHint: true, destructiveHint: true }),
          listed("repeats", { readOnlyHint: true, destructiveHint: true, idempotentHint: true }),
        ],
        () => ({ content: [] }),
      ),
    );
    expect(tools.map(({ name, executionMode, effect }) => `${name} ${executionMode} ${effect}`)).toEqual([
      "silent sequential execute",
      "reads parallel read",
      "writes sequential execute",
      "contradicts sequential read",
      "repeats parallel read",
    ]);
    expect(new Set(tools.map(({ environmentId }) => environmentId)).size).toBe(1);
  });

  it("turns every kind of content into text and images", async () => {
    const content = [
      { type: "text", text: "a" },
      { type: "image", data: "AAAA", mimeType: "image/png" },
      { type: "audio", data: "AAAAAAA=", mimeType: "audio/wav" },
      { type: "resource_link", name: "log", uri: "file:///log", mimeType: "text/plain" },
      { type: "resource", resource: { uri: "x://a", text: "inside" } },
      { type: "resource", resource: { uri: "x://b", blob: "AAAA", mimeType: "image/gif" } },
      { type: "resource", resource: { uri: "x://c", blob: "AAAA" } },
      { type: "hologram" },
      { type: "text", text: 7 },
      "nonsense",
    ];
    const scheduler = createScheduler({ tools: await toolsFromMcp(fake([listed("any")], () => ({ content }))) });
    const { results } = await scheduler.runBatch([{ id: "1", name: "any", arguments: {} }]);
    expect(results[0]?.content).toEqual([
      { type: "text", text: "a" },
      { type: "image", data: "AAAA", mimeType: "image/png" },
      { type: "text", text: "[audio, audio/wav, 5 bytes]" },
      { type: "text", text: "[link to log: file:///log, text/plain]" },
      { type: "text", text: "[x://a]\ninside" },
      { type: "image", data: "AAAA", mimeType: "image/gif" },
      { type: "text", text: "[x://c, binary, 3 bytes]" },
      { type: "text", text: "[content of a kind that is not known here: hologram]" },
      { type: "text", text: "" },
    ]);
  });

  it.each([
    [
      { content: [], structuredContent: { a: 1 } },
      { isError: false, content: [{ type: "text", text: '{"a":1}' }], details: { a: 1 } },
    ],
    [
      { content: [{ type: "text", text: "no" }], isError: true },
      { isError: true, content: [{ type: "text", text: "no" }] },
    ],
    [undefined, { isError: false, content: [] }],
    ["nonsense", { isError: false, content: [] }],
  ])("makes a result of %j", async (answer, expected) => {
    const scheduler = createScheduler({ tools: await toolsFromMcp(fake([listed("any", { readOnlyHint: true })], () => answer)) });
    const { results } = await scheduler.runBatch([{ id: "1", name: "any", arguments: {} }]);
    expect(results[0]).toMatchObject(expected);
  });

  it.each([
    [{ code: -32602, message: "bad path" }, false, "invalid_argument", true],
    [{ code: -32603, message: "broke" }, false, "unexpected", false],
    [{ code: "REQUEST_TIMEOUT", message: "timed out" }, false, "unknown_outcome", false],
    [{ code: "CONNECTION_CLOSED", message: "closed" }, true, "disconnected", true],
  ])("makes an error of %j from a tool that only reads: %s", async (thrown, readOnlyHint, code, retrySafe) => {
    const failing = fake([listed("any", { readOnlyHint })], () => {
      throw Object.assign(new Error(thrown.message), thrown);
    });
    const scheduler = createScheduler({ tools: await toolsFromMcp(failing) });
    const { results } = await scheduler.runBatch([{ id: "1", name: "any", arguments: {} }]);
    expect(results[0]).toMatchObject({ isError: true, details: { error: { code, retrySafe } } });
  });

  it("takes no server's word for how long its list is, and knows which tools it was asked for", async () => {
    const endless: McpToolClient = { listTools: async () => ({ tools: [listed("a")], nextCursor: "again" }), callTool: async () => ({}) };
    await expect(toolsFromMcp(endless)).rejects.toMatchObject({ code: "too_large" });
    await expect(
      toolsFromMcp(
        fake([listed("a")], () => ({})),
        { names: ["b"] },
      ),
    ).rejects.toThrow('The server has no tool "b". It has a.');
  });
});

describe("mcpTools", () => {
  it("are all that the environment can run, unless narrowed", async () => {
    const environment = await openMemory();
    const names = (options?: Parameters<typeof mcpTools>[1]) => mcpTools(environment, options).map(({ name }) => name);
    expect(names()).toEqual(["read", "edit", "write", "grep", "find", "ls"]);
    expect(names({ readOnly: true })).toEqual(["read", "grep", "find", "ls"]);
    expect(names({ names: ["ls", "bash"] })).toEqual(["ls", "bash"]);
    expect(() => names({ names: ["read", "write"], readOnly: true })).toThrow("write can change files, and the server is to be read-only.");
    for (const bashTimeout of [
      { defaultSeconds: 0, maximumSeconds: 1 },
      { defaultSeconds: 2, maximumSeconds: 1 },
      { defaultSeconds: Number.NaN, maximumSeconds: 1 },
    ]) {
      expect(() => names({ bashTimeout })).toThrow("bash cannot have a default timeout");
    }
  });

  it("say in bash's description and schema how long a command may take", async () => {
    const [bash] = mcpTools(await openMemory(), { names: ["bash"], bashTimeout: { defaultSeconds: 20, maximumSeconds: 30 } });
    expect(bash?.description).toContain("still running after 20 seconds is killed, unless timeout says otherwise (30 at most)");
    expect(bash?.validate({ command: "x", timeout: 31 })).toMatchObject({ ok: false });
    expect(bash?.validate({ command: "x", timeout: 30 })).toMatchObject({ ok: true });
  });
});
