import { afterEach, describe, expect, it } from "vitest";
import { GloveboxError, textResult } from "../../../src/index.js";
import { annotationsOf, mcpTools } from "../../../src/integrations/mcp/index.js";
import { closeAll, connect, EVERY_WAY, eventually, openMemory, serve, serveMemory, textOf, tool } from "./fixtures.js";

afterEach(closeAll);

/** A red dot of one pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

describe.each(EVERY_WAY)("results over $wire in $era", (way) => {
  it("are the tool's text, and the same facts as data", async () => {
    const { client } = await connect(await serveMemory({ "a.txt": "one\ntwo\n" }), way);
    expect(await client.callTool({ name: "read", arguments: { path: "a.txt" } })).toMatchObject({
      content: [{ type: "text", text: "one\ntwo" }],
      isError: false,
      structuredContent: { text: "one\ntwo", path: "a.txt", canonicalPath: "/workspace/a.txt", kind: "text", bytes: 8, totalLines: 2 },
    });
  });

  it("are errors with the text for the model and the code for programs", async () => {
    const { client } = await connect(await serveMemory({ "a.txt": "" }), way);
    const result = await client.callTool({ name: "read", arguments: { path: "b.txt" } });
    expect(result).toMatchObject({ isError: true, _meta: { "glovebox.error": "not_found" } });
    expect(result).not.toHaveProperty("structuredContent");
    expect(textOf(result)).toContain("b.txt does not exist");
  });

  it("are images", async () => {
    const environment = await openMemory();
    await environment.writeFile("dot.png", Buffer.from(PNG, "base64"));
    const { client } = await connect(serve({ target: { tools: mcpTools(environment) } }), way);
    const result = await client.callTool({ name: "read", arguments: { path: "dot.png" } });
    expect(result).toMatchObject({ isError: false, structuredContent: { kind: "image", type: "png" } });
    expect(result.content).toContainEqual({ type: "image", data: PNG, mimeType: "image/png" });
  });

  it("come after progress, where the client asked for it", async () => {
    const slow = tool("slow", async (_given, { onUpdate }) => {
      for (const step of ["first", "second\nthird\n"]) {
        onUpdate(textResult(step));
        await new Promise((resolve) => setTimeout(resolve, 250));
      }
      return textResult("done");
    });
    const { client } = await connect(serve({ target: { tools: [slow] } }), way);
    const seen: unknown[] = [];
    expect(textOf(await client.callTool({ name: "slow", arguments: {} }, { onprogress: (progress) => void seen.push(progress) }))).toBe(
      "done",
    );
    expect(seen).toEqual([
      { progress: 1, message: "first" },
      { progress: 2, message: "third" },
    ]);
    expect(textOf(await client.callTool({ name: "slow", arguments: {} }))).toBe("done");
  });

  it("do not come for a call that was cancelled, which is told to stop", async () => {
    let reason: unknown;
    const stuck = tool("stuck", async (_given, { signal }) => {
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      reason = signal.reason;
      throw new GloveboxError("aborted", "Stopped.");
    });
    const server = serve({ target: { tools: [stuck] } });
    const { client } = await connect(server, way);
    const controller = new AbortController();
    const call = client.callTool({ name: "stuck", arguments: {} }, { signal: controller.signal });
    await eventually(() => server.running === 1);
    controller.abort("enough");
    await expect(call).rejects.toThrow();
    await eventually(() => server.running === 0);
    expect(reason).toBeDefined();
  });

  it("do not come when the client has gone, and the call is told to stop", async () => {
    let stopped = false;
    const stuck = tool("stuck", async (_given, { signal }) => {
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      stopped = true;
      return textResult("late");
    });
    const server = serve({ target: { tools: [stuck] } });
    const { client, disconnect } = await connect(server, way);
    client.callTool({ name: "stuck", arguments: {} }).catch(() => undefined);
    await eventually(() => server.running === 1);
    await disconnect();
    await eventually(() => stopped && server.running === 0);
  });

  it("come before the client loses patience, waiting included", async () => {
    const stuck = tool(
      "stuck",
      async (_given, { signal, onUpdate }) => {
        onUpdate(textResult("half of it"));
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
        throw signal.reason;
      },
      { executionMode: "sequential" },
    );
    const { client } = await connect(serve({ target: { tools: [stuck] }, callTimeoutMs: 300 }), way);
    const [first, second] = await Promise.all([1, 2].map(() => client.callTool({ name: "stuck", arguments: {} })));
    expect(textOf(first)).toBe(
      "half of it\nstuck was stopped after 0.3 seconds, waiting included: a call of this server takes no longer, so that the client does not give up on it. Make it do less at a time.",
    );
    expect(second).toMatchObject({ isError: true, _meta: { "glovebox.error": "timeout" } });
  });

  it("tell those who wait for one that the server is ending", async () => {
    const stuck = tool("stuck", async (_given, { signal }) => {
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      throw signal.reason;
    });
    const server = serve({ target: { tools: [stuck] } });
    const { client } = await connect(server, way);
    const call = client.callTool({ name: "stuck", arguments: {} });
    await eventually(() => server.running === 1);
    const closing = server.close();
    expect(await call).toMatchObject({ isError: true, content: [{ text: "The call was stopped: the server is shutting down." }] });
    await closing;
    expect(server.running).toBe(0);
  });
});

describe("results", () => {
  it("A10 are text that UTF-8 can hold", async () => {
    const odd = tool("odd", async () => textResult("half \ud83d here", { half: true }));
    const { client } = await connect(serve({ target: { tools: [odd] } }), { wire: "stdio", era: "2026-07-28" });
    expect(textOf(await client.callTool({ name: "odd", arguments: {} }))).toBe("half \ufffd here");
  });

  it("have what their output schema promises, or the tool is to blame", async () => {
    const detailsSchema = { type: "object", properties: { count: { type: "integer" } }, required: ["count"] };
    const good = tool("good", async () => textResult("two", { count: 2 }), { detailsSchema });
    const failing = tool("failing", async () => textResult("none", {}, true), { detailsSchema });
    const { client } = await connect(serve({ target: { tools: [good, failing] } }), { wire: "http", era: "2026-07-28" });
    await client.listTools();
    expect(await client.callTool({ name: "good", arguments: {} })).toMatchObject({ structuredContent: { text: "two", count: 2 } });
    expect(await client.callTool({ name: "failing", arguments: {} })).not.toHaveProperty("structuredContent");
  });
});

describe("hints", () => {
  it("follow from what a tool does", () => {
    expect(annotationsOf({ name: "x", label: "X", effect: "execute" })).toEqual({
      title: "X",
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: true,
    });
  });
});
