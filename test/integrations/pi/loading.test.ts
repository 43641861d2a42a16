import { describe, expect, it } from "vitest";
import { memory } from "../../../adapters/memory/index.js";
import { GloveboxError, type Target } from "../../../src/index.js";
import { type PiExtension, type PiExtensionApi, type PiTool, piExtension } from "../../../src/integrations/pi/index.js";

type Handler = (event: object, context?: object) => unknown;

/** What an extension registers, as Pi would keep it. Pi itself loads it in extension.test.ts. */
async function load(extension: PiExtension) {
  const tools = new Map<string, PiTool>();
  const handlers = new Map<string, Handler>();
  const pi: PiExtensionApi = {
    on: (event: string, handler: unknown) => handlers.set(event, handler as Handler),
    registerTool: (tool) => tools.set(tool.name, tool),
    registerToolRenderer: () => undefined,
    getAllTools: () => [...tools.values()],
  };
  await extension(pi);
  const fire = async (event: string, given: object = {}) => await handlers.get(event)?.(given);
  const call = async (name: string, given: object) => await tools.get(name)?.execute("1", given, undefined, undefined);
  return { tools, fire, call };
}

function counted(target: Target) {
  const connections: number[] = [];
  const counting: Target = {
    kind: target.kind,
    label: target.label,
    async connect(options) {
      const connection = await target.connect(options);
      connections.push(1);
      const { close } = connection;
      return Object.assign(connection, {
        close: async () => {
          connections.pop();
          await close();
        },
      });
    },
  };
  return { counting, open: () => connections.length };
}

const unreachable: Target = {
  kind: "memory",
  label: "memory:far",
  connect: async () => {
    throw new GloveboxError("disconnected", "memory:far does not answer.");
  },
};

describe("loading the Pi extension", () => {
  it("keeps one environment from session to session, refuses at the start and never falls back later", async () => {
    await expect(load(piExtension(unreachable))).rejects.toMatchObject({ code: "disconnected" });

    const { counting, open } = counted(memory({ label: "memory:near", exec: { pwd: { stdout: "/workspace\n" } } }));
    const first = await load(piExtension(counting));
    expect([...first.tools.keys()].sort()).toEqual(["bash", "edit", "find", "grep", "ls", "read", "write"]);
    expect(await first.call("write", { path: "a.txt", content: "kept" })).toMatchObject({ isError: false });
    await first.fire("session_shutdown", { reason: "reload" });

    const second = await load(piExtension(counting));
    expect(await second.call("read", { path: "a.txt" })).toMatchObject({ isError: false, content: [{ text: "kept" }] });
    expect(open()).toBe(1);
    expect(await second.fire("tool_call", { toolName: "powershell" })).toMatchObject({ block: true });
    expect(await second.fire("tool_call", { toolName: "bash" })).toBeUndefined();
    expect(await second.fire("tool_call", { toolName: "other" })).toBeUndefined();

    const other = await load(piExtension(unreachable));
    expect(other.tools.size).toBe(7);
    await expect(other.call("read", { path: "a.txt" })).rejects.toThrow("memory:far does not answer.");
    await expect(other.fire("user_bash")).rejects.toThrow("memory:far does not answer.");

    await second.fire("session_shutdown", { reason: "quit" });
    expect(open()).toBe(0);
  });

  it("answers with errors as results, and passes progress, hooks and an abort on", async () => {
    const commands = { slow: { delayMs: Number.POSITIVE_INFINITY, stdout: "so far\n" } };
    const seen: string[] = [];
    const { tools, fire } = await load(
      piExtension(memory({ label: "memory:other", exec: commands }), {
        beforeToolCall: ({ call }) => void seen.push(call.name),
      }),
    );
    const stop = new AbortController();
    const updates: unknown[] = [];
    const running = tools.get("bash")?.execute("1", { command: "slow" }, stop.signal, (update) => {
      updates.push(update.content);
      stop.abort();
    });
    expect(await running).toMatchObject({ isError: true, details: { error: { code: "aborted" } } });
    expect(updates[0]).toEqual([{ type: "text", text: expect.stringContaining("so far") }]);
    expect(await tools.get("read")?.execute("2", { path: "no.txt" }, undefined, undefined)).toMatchObject({ isError: true });
    expect(await tools.get("read")?.execute("3", { wrong: 1 }, undefined, undefined)).toMatchObject({ isError: true });
    expect(seen).toEqual(["bash", "read"]);
    await fire("session_shutdown", { reason: "quit" });
  });
});
