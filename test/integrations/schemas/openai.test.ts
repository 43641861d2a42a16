import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type MemoryExtras, memory } from "../../../adapters/memory/index.js";
import { createScheduler, createTools, type Environment, openEnvironment, toolNames } from "../../../src/index.js";
import {
  runOpenAiFunctionCalls,
  runOpenAiToolCalls,
  toOpenAiResponsesTools,
  toOpenAiTools,
} from "../../../src/integrations/schemas/openai.js";
import { PIXEL, pixelFile } from "../pixel.js";

let environment: Environment & MemoryExtras;
beforeAll(async () => {
  const files = { "a.txt": "one\n", "b.txt": "two\n", "pixel.png": pixelFile() };
  environment = await openEnvironment(
    memory({ files, exec: { "sleep 9": { delayMs: Number.POSITIVE_INFINITY }, false: { exitCode: 1 } } }),
  );
});
afterAll(() => environment.close());

const tools = () => createTools(environment, { names: toolNames });
const scheduler = () => createScheduler({ tools: tools() });
const call = (id: string, name: string, given: unknown) => ({
  id,
  type: "function" as const,
  function: { name, arguments: typeof given === "string" ? given : JSON.stringify(given) },
});

describe("OpenAI Chat Completions", () => {
  it("gets the tools as functions with plain schemas of its own", () => {
    const [read] = toOpenAiTools(tools());
    expect(read).toEqual({
      type: "function",
      function: {
        name: "read",
        description: tools()[0]?.description,
        parameters: {
          type: "object",
          additionalProperties: false,
          required: ["path"],
          properties: {
            path: { type: "string", description: expect.any(String) },
            offset: { type: "integer", minimum: 1, description: expect.any(String) },
            limit: { type: "integer", minimum: 1, description: expect.any(String) },
          },
        },
        strict: false,
      },
    });
    expect(toOpenAiTools(tools()).map((tool) => tool.function.name)).toEqual([...toolNames]);
    expect(Object.getOwnPropertySymbols(read?.function.parameters ?? {})).toEqual([]);
  });

  it("gets one message for each call, in order, errors as text", async () => {
    const messages = await runOpenAiToolCalls(scheduler(), [
      call("1", "read", { path: "a.txt" }),
      call("2", "read", { path: "missing.txt" }),
      call("3", "bash", { command: "false" }),
      call("4", "nothing", {}),
      { id: "5", type: "custom" },
      call("6", "ls", ""),
    ]);
    expect(messages).toEqual([
      { role: "tool", tool_call_id: "1", content: "one" },
      { role: "tool", tool_call_id: "2", content: expect.stringContaining("missing.txt") },
      { role: "tool", tool_call_id: "3", content: expect.stringContaining("1") },
      { role: "tool", tool_call_id: "4", content: expect.stringContaining('There is no tool named "nothing"') },
      { role: "tool", tool_call_id: "6", content: "a.txt\nb.txt\npixel.png" },
    ]);
  });

  it("gets an error for arguments that are no JSON, and the other calls run", async () => {
    const messages = await runOpenAiToolCalls(scheduler(), [
      call("1", "read", '{"path": "a.tx'),
      call("2", "read", { path: "b.txt" }),
      call("3", "write", '{"path": "c.txt", "content": "line\nbreak"}'),
      call("4", "read", '["a.txt"]'),
    ]);
    expect(messages.map(({ content }) => content)).toEqual([
      expect.stringMatching(/^read did not run: its arguments are not JSON \(Unterminated string.*\)\. Call it again/),
      "two",
      expect.stringMatching(/^write did not run: its arguments are not JSON \(.*\)/),
      expect.stringContaining("arguments: expected an object, received an array of 1"),
    ]);
    expect(Object.keys(environment.snapshot())).not.toContain("c.txt");
  });

  it("gets images in a message of the user's after the others", async () => {
    const messages = await runOpenAiToolCalls(scheduler(), [
      call("1", "read", { path: "pixel.png" }),
      call("2", "read", { path: "a.txt" }),
    ]);
    expect(messages).toEqual([
      { role: "tool", tool_call_id: "1", content: expect.stringContaining("pixel.png") },
      { role: "tool", tool_call_id: "2", content: "one" },
      {
        role: "user",
        content: [
          { type: "text", text: "From the tool call 1:" },
          { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } },
        ],
      },
    ]);
  });

  it("has nothing to answer to a message without calls", async () => {
    expect(await runOpenAiToolCalls(scheduler(), undefined)).toEqual([]);
    expect(await runOpenAiToolCalls(scheduler(), [])).toEqual([]);
  });

  it("passes an abort on to what runs", async () => {
    const stop = new AbortController();
    const running = runOpenAiToolCalls(scheduler(), [call("1", "bash", { command: "sleep 9" })], { signal: stop.signal });
    setTimeout(() => stop.abort(), 20);
    expect(await running).toEqual([{ role: "tool", tool_call_id: "1", content: expect.stringContaining("aborted") }]);
  });

  it("goes through the hooks", async () => {
    const careful = createScheduler({ tools: tools(), beforeToolCall: () => ({ block: true, reason: "Not today." }) });
    const [message] = await runOpenAiToolCalls(careful, [call("1", "read", { path: "a.txt" })]);
    expect(message?.content).toBe("read did not run: it was blocked: Not today. Do not repeat the call as it is.");
  });
});

describe("OpenAI Responses", () => {
  it("gets the tools flat and not strict, which it would be by default", () => {
    const [read] = toOpenAiResponsesTools(tools());
    expect(read).toEqual({ type: "function", ...toOpenAiTools(tools())[0]?.function });
  });

  it("gets one output for each function call, images in place, and other items are passed over", async () => {
    const items = await runOpenAiFunctionCalls(scheduler(), [
      { type: "reasoning" },
      { type: "function_call", call_id: "1", name: "read", arguments: '{"path":"a.txt"}' },
      { type: "function_call", call_id: "2", name: "read", arguments: '{"path":"pixel.png"}' },
      { type: "message" },
      { type: "function_call", call_id: "3", name: "read", arguments: "{" },
    ]);
    expect(items).toEqual([
      { type: "function_call_output", call_id: "1", output: "one" },
      {
        type: "function_call_output",
        call_id: "2",
        output: [
          { type: "input_text", text: expect.stringContaining("pixel.png") },
          { type: "input_image", image_url: `data:image/png;base64,${PIXEL}`, detail: "auto" },
        ],
      },
      { type: "function_call_output", call_id: "3", output: expect.stringContaining("not JSON") },
    ]);
  });
});
