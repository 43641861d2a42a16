import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { hostNode, hostPackages } from "./integrations/hosts.js";
import { describeTarget } from "./support/describe-target.js";
import { INSTALL_MS } from "./support/on-demand.js";
import { runCommand } from "./support/run-command.js";

/*
 * The README's loops are run as they stand, with the published SDKs, against models that call bash once and then repeat
 * what it said.
 */
const root = fileURLToPath(new URL("..", import.meta.url));
const readme = await readFile(join(root, "README.md"), "utf8");
const programs = [...readme.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, text = ""]) => text);
const GIVEN = { command: "echo from the $((6 * 7)) box" };
const SAID = "from the 42 box";

/** Preloaded: where the AI SDK looks up the name of a model. */
const AI_SDK_MODEL = `
import { MockLanguageModelV4 } from "ai/test";
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const doGenerate = async ({ prompt }) => {
  const { role, content } = prompt.at(-1);
  const [part, reason] =
    role === "tool"
      ? [{ type: "text", text: JSON.stringify(content) }, "stop"]
      : [{ type: "tool-call", toolCallId: "1", toolName: "bash", input: ${JSON.stringify(JSON.stringify(GIVEN))} }, "tool-calls"];
  return { content: [part], finishReason: { unified: reason }, usage, warnings: [] };
};
globalThis.AI_SDK_DEFAULT_PROVIDER = { specificationVersion: "v4", languageModel: () => new MockLanguageModelV4({ doGenerate }) };
`;

interface Asked {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools: readonly unknown[];
}

/** What the providers' servers answer, by path. */
const ANSWERS: Readonly<Record<string, (asked: Asked) => object>> = {
  "/chat/completions": ({ messages }) => {
    const { role, content } = messages.at(-1) ?? {};
    const call = { id: "1", type: "function", function: { name: "bash", arguments: JSON.stringify(GIVEN) } };
    const message = role === "tool" ? { role: "assistant", content } : { role: "assistant", content: null, tool_calls: [call] };
    return { id: "c", object: "chat.completion", choices: [{ index: 0, message, finish_reason: role === "tool" ? "stop" : "tool_calls" }] };
  },
  "/v1/messages": ({ messages }) => {
    const done = messages.length > 1;
    const text = { type: "text", text: JSON.stringify(messages.at(-1)?.content) };
    const content = [done ? text : { type: "tool_use", id: "1", name: "bash", input: GIVEN }];
    const usage = { input_tokens: 1, output_tokens: 1 };
    return { id: "m", type: "message", role: "assistant", content, stop_reason: done ? "end_turn" : "tool_use", usage };
  },
};

async function startModels(): Promise<string> {
  const server = createServer(async (request, response) => {
    const asked = (await bodyOf(request)) as Asked;
    const answer = asked.tools.length > 0 ? ANSWERS[request.url ?? ""]?.(asked) : undefined;
    const refusal = { error: { message: `${request.url} with ${asked.tools.length} tools is not what was expected` } };
    response.writeHead(answer === undefined ? 400 : 200, { "content-type": "application/json" }).end(JSON.stringify(answer ?? refusal));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString());
}

describeTarget("docker", "README, in an SDK's loop", () => {
  it("its blocks run with the published packages", { timeout: INSTALL_MS }, async ({ skip }) => {
    const packages = await hostPackages(skip);
    const scratch = join(packages, `readme-${process.pid}`);
    await mkdir(scratch);
    onTestFinished(() => rm(scratch, { recursive: true }));
    const model = join(scratch, "model.mjs");
    await writeFile(model, AI_SDK_MODEL);
    const models = await startModels();
    const env = { OPENAI_BASE_URL: models, OPENAI_API_KEY: "none", ANTHROPIC_BASE_URL: models, ANTHROPIC_API_KEY: "none" };
    const run = async (subpath: string): Promise<string> => {
      const file = join(scratch, `${subpath}.ts`);
      await writeFile(file, programs.find((text) => text.includes(`"glovebox/${subpath}"`)) ?? "");
      return (await runCommand(await hostNode(), ["--import", "tsx", "--import", model, file], { env })).stdout;
    };
    const said = await Promise.all(["ai-sdk", "openai", "anthropic"].map(run));
    expect(said).toEqual([expect.stringContaining(SAID), expect.stringContaining(SAID), expect.stringContaining(SAID)]);
  });
});

it("README's command for Pi names the variable that the extension reads, and the extension as it is published", async () => {
  const [, variable = "", path = ""] = /^(\w+)=docker: pi -e node_modules\/glovebox\/(\S+)$/m.exec(readme) ?? [];
  // That this one works in Pi is shown in test/integrations/pi/extension.test.ts.
  expect(path).toBe("dist/pi-extension.js");
  expect(existsSync(join(root, path))).toBe(true);
  expect(await readFile(join(root, path), "utf8")).toContain(`process.env.${variable}`);
});
