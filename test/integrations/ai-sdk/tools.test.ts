import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, it, onTestFinished } from "vitest";
import { type MemoryOptions, memory } from "../../../adapters/memory/index.js";
import { type AgentTool, createTools, type GloveboxEvent, openEnvironment, type SchedulerOptions, toolNames } from "../../../src/index.js";
import { type AiSdkTool, toAiSdkTools } from "../../../src/integrations/ai-sdk/index.js";
import { PIXEL, pixelFile } from "../pixel.js";

async function setUp(options: Omit<SchedulerOptions, "tools"> = {}, memoryOptions: MemoryOptions = {}, change = (tool: AgentTool) => tool) {
  const files = { "a.txt": "one\n", "pixel.png": pixelFile() };
  const exec = { slow: { delayMs: Number.POSITIVE_INFINITY }, quick: { stdout: "done\n" } };
  const environment = await openEnvironment(memory({ files, exec, ...memoryOptions }));
  onTestFinished(() => environment.close());
  const events: GloveboxEvent[] = [];
  const tools = toAiSdkTools(createTools(environment, { names: toolNames }).map(change), {
    onEvent: (event) => events.push(event),
    ...options,
  });
  const step = {};
  let calls = 0;
  const call = async (name: string, input: unknown, given: { abortSignal?: AbortSignal; messages?: readonly unknown[] } = {}) => {
    calls += 1;
    const tool = tools[name] as AiSdkTool;
    const output = await tool.execute(input, { toolCallId: `call-${calls}`, messages: step as readonly unknown[], ...given });
    return { output, model: tool.toModelOutput({ output }) };
  };
  return { environment, tools, events, call };
}

describe("tools for the AI SDK", () => {
  it("are described by a schema that lets everything pass to the scheduler", async () => {
    const { tools } = await setUp();
    expect(Object.keys(tools)).toEqual([...toolNames]);
    const { jsonSchema, validate } = tools.read?.inputSchema["~standard"] ?? {};
    expect(jsonSchema?.input()).toMatchObject({ type: "object", required: ["path"], additionalProperties: false });
    expect(validate?.("anything")).toEqual({ value: "anything" });
  });

  it("answer with everything, and tell the model text, images and errors apart", async () => {
    const { call } = await setUp();
    const [text, image, missing, invalid] = await Promise.all([
      call("read", { path: "a.txt" }),
      call("read", { path: "pixel.png" }),
      call("read", { path: "missing.txt" }),
      call("read", { file: "a.txt" }),
    ]);
    expect(text?.model).toEqual({ type: "text", value: "one" });
    expect(text?.output).toMatchObject({ isError: false, content: [{ type: "text", text: "one" }], details: { totalLines: 1 } });
    expect(image?.model).toEqual({
      type: "content",
      value: [
        { type: "text", text: expect.stringContaining("pixel.png") },
        { type: "file", mediaType: "image/png", data: { type: "data", data: PIXEL } },
      ],
    });
    expect(missing?.model).toEqual({ type: "error-text", value: expect.stringContaining("missing.txt") });
    expect(missing?.output).toMatchObject({ isError: true, details: { error: { code: "not_found" } } });
    expect(invalid?.model).toEqual({ type: "error-text", value: expect.stringContaining("path: expected a string") });
    expect(JSON.parse(JSON.stringify(text?.output))).toEqual(text?.output);
  });

  it("run the calls of one step as one batch, of two steps as two", async () => {
    const { call, events } = await setUp();
    await Promise.all([call("read", { path: "a.txt" }), call("ls", {}), call("read", { path: "a.txt" }, { messages: [] })]);
    const batches = events.flatMap((event) => (event.type === "batch_start" ? [event.calls.length] : []));
    expect(batches).toEqual([2, 1]);
  });

  it("are answered in their order, without waiting for those behind", async () => {
    const { call } = await setUp();
    const stop = new AbortController();
    const read = call("read", { path: "a.txt" });
    const slow = call("bash", { command: "slow" }, { abortSignal: stop.signal });
    expect((await read).model).toEqual({ type: "text", value: "one" });
    stop.abort();
    expect((await slow).output.isError).toBe(true);
  });

  it("keep the sequential veto and the order of edits", async () => {
    const sequential = (tool: AgentTool): AgentTool => (tool.name === "bash" ? { ...tool, executionMode: "sequential" } : tool);
    const { call, events, environment } = await setUp({}, {}, sequential);
    await Promise.all([
      call("edit", { path: "a.txt", edits: [{ oldText: "one", newText: "two" }] }),
      call("bash", { command: "quick" }),
      call("edit", { path: "a.txt", edits: '[{"oldText":"two","newText":"three"}]' }),
    ]);
    const order = events.flatMap((event) =>
      event.type === "tool_execution_start" || event.type === "tool_execution_end" ? [`${event.name} ${event.type.slice(15)}`] : [],
    );
    expect(order).toEqual(["edit start", "edit end", "bash start", "bash end", "edit start", "edit end"]);
    expect(environment.snapshot()["a.txt"]).toBe("three\n");
  });

  it("heed the signal of each call, and end the batch with the last", async () => {
    const { call } = await setUp();
    const first = new AbortController();
    const second = new AbortController();
    const one = call("bash", { command: "slow" }, { abortSignal: first.signal });
    const two = call("bash", { command: "slow" }, { abortSignal: second.signal });
    setTimeout(() => first.abort(), 20);
    expect((await one).model).toEqual({ type: "error-text", value: expect.stringContaining("aborted") });
    setTimeout(() => second.abort(new DOMException("too slow", "TimeoutError")), 20);
    expect((await two).output).toMatchObject({ isError: true });
    const gone = AbortSignal.abort();
    expect((await call("read", { path: "a.txt" }, { abortSignal: gone })).output).toMatchObject({
      isError: true,
      details: { error: { code: "aborted" } },
    });
  });

  it("pass the hooks, and ask a person", async () => {
    const { call } = await setUp({
      beforeToolCall: ({ call: { name } }) => (name === "read" ? { ask: "Really?" } : undefined),
      ask: async () => ({ allow: false, reason: "Private." }),
      afterToolCall: () => ({ content: [{ type: "text", text: "seen" }] }),
    });
    expect((await call("read", { path: "a.txt" })).model).toEqual({
      type: "error-text",
      value: expect.stringContaining("said no: Private."),
    });
    expect((await call("ls", {})).model).toEqual({ type: "text", value: "seen" });
  });

  it("work in the async context of their caller, for traces", async () => {
    const span = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    const watch = (tool: AgentTool): AgentTool => ({
      ...tool,
      execute: (parameters, options) => {
        seen.push(span.getStore());
        return tool.execute(parameters, options);
      },
    });
    const { call } = await setUp({}, {}, watch);
    await Promise.all([span.run("first", () => call("ls", {})), span.run("second", () => call("ls", {}))]);
    expect(seen).toEqual(["first", "second"]);
  });

  it("reject for what the host got wrong alone: two tools of one name", async () => {
    const { environment } = await setUp();
    const [read] = createTools(environment);
    expect(() => toAiSdkTools(read === undefined ? [] : [read, read])).toThrow(/Two tools are named "read"/);
  });
});
