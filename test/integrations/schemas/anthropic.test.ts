import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { memory } from "../../../adapters/memory/index.js";
import { createScheduler, createTools, type Environment, openEnvironment, type Scheduler } from "../../../src/index.js";
import { runAnthropicToolUses, toAnthropicTools } from "../../../src/integrations/schemas/anthropic.js";
import { PIXEL, pixelFile } from "../pixel.js";

let environment: Environment;
let scheduler: Scheduler;
beforeAll(async () => {
  const exec = { "sleep 9": { delayMs: Number.POSITIVE_INFINITY } };
  environment = await openEnvironment(memory({ files: { "a.txt": "one\n", "pixel.png": pixelFile() }, exec }));
  scheduler = createScheduler({ tools: createTools(environment) });
});
afterAll(() => environment.close());

const use = (id: string, name: string, input: unknown) => ({ type: "tool_use" as const, id, name, input });

describe("Anthropic", () => {
  it("gets the tools with plain schemas of its own", () => {
    const tools = createTools(environment);
    expect(toAnthropicTools(tools)).toEqual(
      tools.map(({ name, description, parameters }) => ({ name, description, input_schema: JSON.parse(JSON.stringify(parameters)) })),
    );
    expect(toAnthropicTools(tools)[0]?.input_schema).toMatchObject({ type: "object", required: ["path"] });
  });

  it("gets one result for each tool use, in order, and other blocks are passed over", async () => {
    const results = await runAnthropicToolUses(scheduler, [
      { type: "text" },
      use("1", "read", { path: "a.txt" }),
      { type: "thinking" },
      use("2", "read", { path: "missing.txt" }),
      use("3", "edit", { path: "a.txt", edits: '[{"oldText":"one","newText":"1"}]' }),
      use("4", "nothing", {}),
      use("5", "read", "not an object"),
    ]);
    const text = (said: unknown) => [{ type: "text", text: said }];
    expect(results).toEqual([
      { type: "tool_result", tool_use_id: "1", content: text("one"), is_error: false },
      { type: "tool_result", tool_use_id: "2", content: text(expect.stringContaining("missing.txt")), is_error: true },
      { type: "tool_result", tool_use_id: "3", content: text(expect.any(String)), is_error: false },
      { type: "tool_result", tool_use_id: "4", content: text(expect.stringContaining("no tool named")), is_error: true },
      { type: "tool_result", tool_use_id: "5", content: text(expect.stringContaining("expected an object")), is_error: true },
    ]);
  });

  it("gets images as blocks", async () => {
    const [result] = await runAnthropicToolUses(scheduler, [use("1", "read", { path: "pixel.png" })]);
    expect(result).toEqual({
      type: "tool_result",
      tool_use_id: "1",
      content: [
        { type: "text", text: expect.stringContaining("pixel.png") },
        { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } },
      ],
      is_error: false,
    });
  });

  it("gets no block that its API refuses: empty texts, images of an error, types it cannot see", async () => {
    const image = (mimeType: string) => ({ type: "image" as const, data: "AAAA", mimeType });
    const answer = (content: readonly object[], isError: boolean) => ({
      runBatch: async () => ({ results: [{ id: "1", name: "x", content, isError }], terminate: false }) as never,
    });
    const blocksOf = async (content: readonly object[], isError = false) =>
      (await runAnthropicToolUses(answer(content, isError), [use("1", "x", {})]))[0];
    expect(await blocksOf([{ type: "text", text: "" }])).toEqual({ type: "tool_result", tool_use_id: "1", is_error: false });
    expect((await blocksOf([image("image/bmp")]))?.content).toEqual([{ type: "text", text: "[image: image/bmp]" }]);
    expect((await blocksOf([{ type: "text", text: "no" }, image("image/png")], true))?.content).toEqual([
      { type: "text", text: "no" },
      { type: "text", text: "[image: image/png]" },
    ]);
  });

  it("passes an abort on to what runs", async () => {
    const stop = new AbortController();
    const running = runAnthropicToolUses(scheduler, [use("1", "bash", { command: "sleep 9" })], { signal: stop.signal });
    setTimeout(() => stop.abort(), 20);
    expect(await running).toMatchObject([{ tool_use_id: "1", is_error: true, content: [{ text: expect.stringContaining("aborted") }] }]);
  });
});
