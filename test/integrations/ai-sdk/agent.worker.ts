import { local } from "../../../adapters/local/index.js";
import { memory } from "../../../adapters/memory/index.js";
import { createTools, openEnvironment, type Target } from "../../../src/index.js";
import { aiSdkSandboxProvider, toAiSdkSandbox, toAiSdkTools } from "../../../src/integrations/ai-sdk/index.js";
import { loadHost } from "../hosts.js";
import { pixelFile } from "../pixel.js";

/*
 * The AI SDK itself, with a scripted model of its own: what the model is told after a step of tool calls, what a tool sees
 * of the sandbox, what a harness does with a session. Prints it as JSON.
 */

interface Prompt {
  readonly prompt: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools: readonly unknown[];
}

interface AiSdk {
  generateText(
    options: object,
  ): Promise<{ readonly text: string; readonly steps: readonly { readonly content: readonly { readonly type: string }[] }[] }>;
  streamText(options: object): { readonly text: Promise<string>; consumeStream(): Promise<void> };
  stepCountIs(count: number): unknown;
  tool(options: object): unknown;
}

interface AiSdkTest {
  MockLanguageModelV4: new (options: object) => { readonly doGenerateCalls: readonly Prompt[]; readonly doStreamCalls: readonly Prompt[] };
  simulateReadableStream(options: object): unknown;
}

const { packages, directory } = JSON.parse(process.argv[2] ?? "{}") as { packages: string; directory: string };
const { generateText, streamText, stepCountIs, tool } = await loadHost<AiSdk>(packages, "ai");
const { MockLanguageModelV4, simulateReadableStream } = await loadHost<AiSdkTest>(packages, "ai/test");
const { jsonSchema } = await loadHost<{ jsonSchema(schema: object): unknown }>(packages, "@ai-sdk/provider-utils");
const harness = await loadHost<{ prepareSandboxForHarness(options: object): Promise<unknown> }>(packages, "@ai-sdk/harness/agent");

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const calls = [
  { id: "1", name: "read", input: { path: "a.txt" } },
  { id: "2", name: "edit", input: { path: "a.txt", edits: JSON.stringify([{ oldText: "one", newText: "two" }]) } },
  { id: "3", name: "read", input: { path: "missing.txt" } },
  { id: "4", name: "read", input: { path: "pixel.png" } },
  { id: "5", name: "read", input: { file: "a.txt" } },
];
const toolCalls = calls.map(({ id, name, input }) => ({ type: "tool-call", toolCallId: id, toolName: name, input: JSON.stringify(input) }));
const finish = (unified: string) => ({ finishReason: { unified, raw: undefined }, usage });

function newTarget(): Target {
  return memory({ files: { "a.txt": "one\n", "pixel.png": pixelFile() } });
}

async function generate() {
  await using environment = await openEnvironment(newTarget());
  const batches: number[] = [];
  const model = new MockLanguageModelV4({
    doGenerate: [
      { content: toolCalls, warnings: [], ...finish("tool-calls") },
      { content: [{ type: "text", text: "done" }], warnings: [], ...finish("stop") },
    ],
  });
  const tools = toAiSdkTools(createTools(environment), {
    onEvent: (event) => event.type === "batch_start" && batches.push(event.calls.length),
  });
  const { text, steps } = await generateText({ model, tools, prompt: "go", stopWhen: stepCountIs(3) });
  const [first, second] = model.doGenerateCalls;
  return {
    text,
    batches,
    parts: steps[0]?.content.map(({ type }) => type),
    offered: first?.tools,
    told: second?.prompt.at(-1)?.content,
    file: Buffer.from((await environment.readFile("a.txt")).data).toString(),
  };
}

async function stream() {
  await using environment = await openEnvironment(newTarget());
  const batches: number[] = [];
  const chunks = (...parts: object[]) => ({
    stream: simulateReadableStream({ chunks: [{ type: "stream-start", warnings: [] }, ...parts] }),
  });
  const model = new MockLanguageModelV4({
    doStream: [
      chunks(...toolCalls, { type: "finish", ...finish("tool-calls") }),
      chunks(
        { type: "text-start", id: "t" },
        { type: "text-delta", id: "t", delta: "done" },
        { type: "text-end", id: "t" },
        { type: "finish", ...finish("stop") },
      ),
    ],
  });
  const tools = toAiSdkTools(createTools(environment), {
    onEvent: (event) => event.type === "batch_start" && batches.push(event.calls.length),
  });
  const result = streamText({ model, tools, prompt: "go", stopWhen: stepCountIs(3) });
  await result.consumeStream();
  return { text: await result.text, batches, told: model.doStreamCalls[1]?.prompt.at(-1)?.content };
}

async function sandbox() {
  await using environment = await openEnvironment(newTarget());
  const look = tool({
    description: "Looks into the sandbox",
    inputSchema: jsonSchema({ type: "object", properties: {} }),
    execute: async (_input: unknown, { experimental_sandbox: given }: { experimental_sandbox: ReturnType<typeof toAiSdkSandbox> }) =>
      await given.readTextFile({ path: "a.txt" }),
  });
  const model = new MockLanguageModelV4({
    doGenerate: [
      { content: [{ type: "tool-call", toolCallId: "1", toolName: "look", input: "{}" }], warnings: [], ...finish("tool-calls") },
      { content: [{ type: "text", text: "done" }], warnings: [], ...finish("stop") },
    ],
  });
  await generateText({ model, tools: { look }, prompt: "go", stopWhen: stepCountIs(3), experimental_sandbox: toAiSdkSandbox(environment) });
  return model.doGenerateCalls[1]?.prompt.at(-1)?.content;
}

/** A harness's own set-up code, over our provider, on a target with commands. */
async function prepare() {
  const recipe = {
    harnessId: "example",
    bootstrapDir: "bridge",
    files: [{ path: "bridge/hello.sh", content: "echo hello from $PWD\n" }],
    commands: [{ command: "sh hello.sh > said.txt", workingDirectory: "bridge" }],
  };
  const adapter = { harnessId: "example", getBootstrap: async () => recipe };
  const provider = aiSdkSandboxProvider({ create: () => openEnvironment(local(directory)) });
  const session = await provider.createSession({ sessionId: "s1" });
  try {
    const once = await harness.prepareSandboxForHarness({ session, harnesses: [adapter] });
    const again = await harness.prepareSandboxForHarness({ session, harnesses: [adapter] });
    return { same: JSON.stringify(once) === JSON.stringify(again), said: await session.readTextFile({ path: "bridge/said.txt" }) };
  } finally {
    await session.destroy();
  }
}

console.log(JSON.stringify({ generated: await generate(), streamed: await stream(), seen: await sandbox(), prepared: await prepare() }));
