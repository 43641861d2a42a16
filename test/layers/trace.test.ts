import { tracingChannel } from "node:diagnostics_channel";
import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/memory/index.js";
import { Type } from "../../src/contract/schema.js";
import { bindTool, defineTool } from "../../src/contract/tool.js";
import { openEnvironment } from "../../src/environment.js";
import { trace, traceTool } from "../../src/layers/trace.js";
import { recordSpans } from "./spans.js";

const spans = recordSpans();
const options = { id: "call_1", signal: new AbortController().signal, onUpdate() {} };

const peek = defineTool({
  name: "peek",
  label: "peek",
  description: "Tells whether a file is there.",
  parameters: Type.Object({ path: Type.String() }, { additionalProperties: false }),
  effect: "read",
  promptSnippet: "peek: is it there?",
  promptGuidelines: [],
  async run({ path }, { operations }) {
    const there = await (operations as { stat(path: string): Promise<unknown> }).stat(path).then(
      () => true,
      () => false,
    );
    return { content: [{ type: "text", text: String(there) }], isError: !there };
  },
});

describe("trace", () => {
  it("makes each verb a span, child of its tool's, and says how it came out without saying what was in it", async () => {
    const target = memory({ files: { a: "secret content" }, exec: () => ({ exitCode: 0 }) });
    const environment = await openEnvironment(target, { layers: [trace()] });
    const tool = traceTool(bindTool(peek, environment));
    await tool.execute({ path: "a" }, options);
    await tool.execute({ path: "none" }, options);
    await environment.exec("echo secret command");

    const toolAttributes = {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "peek",
      "gen_ai.tool.type": "function",
      "gen_ai.tool.call.id": "call_1",
    };
    const verb = (name: string, path?: string) => ({
      "glovebox.target": "memory:",
      "glovebox.verb": name,
      ...(path && { "glovebox.path": path }),
    });
    expect(spans).toEqual([
      { name: "execute_tool peek", parent: undefined, attributes: toolAttributes, status: 0, ended: true },
      { name: "glovebox.stat", parent: "execute_tool peek", attributes: verb("stat", "a"), status: 0, ended: true },
      {
        name: "execute_tool peek",
        parent: undefined,
        attributes: { ...toolAttributes, "error.type": "tool_error" },
        status: 2,
        ended: true,
      },
      {
        name: "glovebox.stat",
        parent: "execute_tool peek",
        attributes: { ...verb("stat", "none"), "error.type": "not_found" },
        status: 2,
        ended: true,
      },
      { name: "glovebox.exec", parent: undefined, attributes: verb("exec"), status: 0, ended: true },
    ]);
  });

  it("publishes each verb on the diagnostics channel", async () => {
    const seen: unknown[] = [];
    const note = (phase: string) => (message: object) => void seen.push({ phase, ...message });
    const channel = tracingChannel("glovebox:verb");
    const subscribers = { start: note("start"), end() {}, asyncStart() {}, asyncEnd: note("asyncEnd"), error: note("error") };
    channel.subscribe(subscribers as never);
    try {
      const environment = await openEnvironment(memory(), { layers: [trace()] });
      expect(await environment.realpath("a")).toBe("/workspace/a");
      const error = await environment.stat("none").catch((thrown: unknown) => thrown);
      const [realpath, stat] = [
        { target: "memory:", verb: "realpath", path: "a" },
        { target: "memory:", verb: "stat", path: "none" },
      ];
      expect(seen).toEqual([
        { phase: "start", ...realpath },
        { phase: "asyncEnd", ...realpath, result: "/workspace/a" },
        { phase: "start", ...stat },
        { phase: "error", ...stat, error },
        { phase: "asyncEnd", ...stat, error },
      ]);
    } finally {
      channel.unsubscribe(subscribers as never);
    }
  });
});
