import { describe, expect, it } from "vitest";
import { INSTALL_MS } from "../support/on-demand.js";
import { hostPackages, typeErrors } from "./hosts.js";

/*
 * Our shapes are written out, so the hosts' published types are the judges. Each source assigns in the direction in which
 * a host would use it.
 */
const FITTING = {
  pi: `
    import * as pi from "@earendil-works/pi-coding-agent";
    import { piExtension, type PiOperations } from "glovebox/pi";
    declare const operations: PiOperations;
    declare const target: Parameters<typeof piExtension>[0];
    export const read: pi.ReadOperations = operations.read;
    export const write: pi.WriteOperations = operations.write;
    export const edit: pi.EditOperations = operations.edit;
    export const bash: pi.BashOperations = operations.bash;
    export const grep: pi.GrepOperations = operations.grep;
    export const find: pi.FindOperations = operations.find;
    export const ls: pi.LsOperations = operations.ls;
    export const factory: pi.ExtensionFactory = piExtension(target);
  `,
  "ai-sdk": `
    import { generateText, streamText, ToolLoopAgent, type LanguageModel, type ToolSet } from "ai";
    import type { Experimental_SandboxSession as Session, ToolResultOutput } from "@ai-sdk/provider-utils";
    import type { HarnessV1NetworkSandboxSession, HarnessV1SandboxProvider } from "@ai-sdk/harness";
    import { aiSdkSandboxProvider, toAiSdkSandbox, toAiSdkTools, type AiSdkModelOutput, type AiSdkNetworkSandboxSession } from "glovebox/ai-sdk";
    declare const model: LanguageModel;
    declare const environment: Parameters<typeof toAiSdkSandbox>[0];
    declare const network: AiSdkNetworkSandboxSession;
    declare const output: AiSdkModelOutput;
    export const tools: ToolSet = toAiSdkTools([]);
    export const session: Session = toAiSdkSandbox(environment);
    export const provider: HarnessV1SandboxProvider = aiSdkSandboxProvider({ create: async () => environment, resume: async () => environment });
    export const networkSession: HarnessV1NetworkSandboxSession = network;
    export const modelOutput: ToolResultOutput = output;
    export const generated = generateText({ model, tools: toAiSdkTools([]), prompt: "", experimental_sandbox: toAiSdkSandbox(environment) });
    export const streamed = streamText({ model, tools: toAiSdkTools([]), prompt: "" });
    export const agent = new ToolLoopAgent({ model, tools: toAiSdkTools([]) });
  `,
  openai: `
    import type OpenAI from "openai";
    import type { ChatCompletionFunctionTool, ChatCompletionMessage, ChatCompletionMessageParam } from "openai/resources/chat/completions";
    import type { FunctionTool, Response, ResponseInputItem } from "openai/resources/responses/responses";
    import { runOpenAiFunctionCalls, runOpenAiToolCalls, toOpenAiResponsesTools, toOpenAiTools } from "glovebox/openai";
    declare const client: OpenAI;
    declare const scheduler: Parameters<typeof runOpenAiToolCalls>[0];
    declare const message: ChatCompletionMessage;
    declare const response: Response;
    export const chatTools: ChatCompletionFunctionTool[] = toOpenAiTools([]);
    export const responsesTools: FunctionTool[] = toOpenAiResponsesTools([]);
    export const messages: ChatCompletionMessageParam[] = await runOpenAiToolCalls(scheduler, message.tool_calls);
    export const items: ResponseInputItem[] = await runOpenAiFunctionCalls(scheduler, response.output);
    export const chat = client.chat.completions.create({ model: "", messages: [message, ...messages], tools: toOpenAiTools([]) });
    export const next = client.responses.create({ model: "", input: items, tools: toOpenAiResponsesTools([]) });
  `,
  anthropic: `
    import type Anthropic from "@anthropic-ai/sdk";
    import { runAnthropicToolUses, toAnthropicTools } from "glovebox/anthropic";
    declare const client: Anthropic;
    declare const scheduler: Parameters<typeof runAnthropicToolUses>[0];
    declare const message: Anthropic.Message;
    export const tools: Anthropic.Tool[] = toAnthropicTools([]);
    export const content: Anthropic.ToolResultBlockParam[] = await runAnthropicToolUses(scheduler, message.content);
    export const next = client.messages.create({ model: "", max_tokens: 1, tools: toAnthropicTools([]), messages: [{ role: "user", content }] });
  `,
};

/** A judge that cannot say no proves nothing. */
const UNFIT = {
  "pi-unfit": `
    import type { LsOperations } from "@earendil-works/pi-coding-agent";
    import type { PiOperations } from "glovebox/pi";
    declare const operations: PiOperations;
    export const wrong: LsOperations = operations.find;
  `,
  "ai-sdk-unfit": `
    import type { Experimental_SandboxSession as Session } from "@ai-sdk/provider-utils";
    import type { AiSdkSandboxSession } from "glovebox/ai-sdk";
    declare const session: Omit<AiSdkSandboxSession, "deleteFile">;
    export const wrong: Session = session;
  `,
  "openai-unfit": `
    import type { FunctionTool } from "openai/resources/responses/responses";
    import { toOpenAiTools } from "glovebox/openai";
    export const wrong: FunctionTool[] = toOpenAiTools([]);
  `,
  "anthropic-unfit": `
    import type Anthropic from "@anthropic-ai/sdk";
    import { toOpenAiTools } from "glovebox/openai";
    export const wrong: Anthropic.Tool[] = toOpenAiTools([]);
  `,
};

describe("the hosts' published types", () => {
  it("take what we make, and not what we do not", { timeout: INSTALL_MS }, async ({ skip }) => {
    const errors = typeErrors(await hostPackages(skip), { ...FITTING, ...UNFIT });
    for (const name of Object.keys(FITTING) as (keyof typeof FITTING)[]) expect(errors[name]).toBe("");
    for (const name of Object.keys(UNFIT) as (keyof typeof UNFIT)[]) expect(errors[name]).toMatch(/: error TS2(322|741|739|740): /);
  });
});
