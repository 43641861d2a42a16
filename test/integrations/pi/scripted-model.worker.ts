/*
 * A Pi extension of the tests': a model that says what the variable PI_SCRIPT says, turn by turn, and then what it was told
 * about itself. Loaded by Pi, so that it imports nothing of ours.
 */

interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: object;
}

interface Message {
  readonly role: string;
}

interface EventStream {
  push(event: object): void;
}

interface Pi {
  registerProvider(name: string, config: object): void;
}

interface PiAi {
  createAssistantMessageEventStream(): EventStream;
  getCurrentSystemPrompt(messages: readonly Message[]): string;
  getCurrentTools(messages: readonly Message[]): readonly { readonly name: string; readonly description: string }[];
}

const PI_AI = "@earendil-works/pi-ai";
const usage = {
  input: 1,
  output: 1,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 2,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

async function scriptedModel(pi: Pi): Promise<void> {
  const { createAssistantMessageEventStream, getCurrentSystemPrompt, getCurrentTools } = (await import(PI_AI)) as PiAi;
  const script = JSON.parse(process.env.PI_SCRIPT ?? "[]") as readonly (readonly Call[])[];

  const answer = (
    model: { readonly id: string; readonly provider: string; readonly api: string },
    context: { readonly messages: readonly Message[] },
  ) => {
    const turn = context.messages.filter(({ role }) => role === "assistant").length;
    const calls = script[turn];
    const told = { systemPrompt: getCurrentSystemPrompt(context.messages), tools: getCurrentTools(context.messages) };
    const content =
      calls === undefined ? [{ type: "text", text: JSON.stringify(told) }] : calls.map((call) => ({ type: "toolCall", ...call }));
    const reason = calls === undefined ? "stop" : "toolUse";
    const message = {
      role: "assistant",
      content,
      api: model.api,
      provider: model.provider,
      model: model.id,
      usage,
      stopReason: reason,
      timestamp: Date.now(),
    };
    const stream = createAssistantMessageEventStream();
    stream.push({ type: "start", partial: { ...message, content: [], stopReason: "pending" } });
    stream.push({ type: "done", reason, message });
    return stream;
  };
  pi.registerProvider("scripted", {
    baseUrl: "http://127.0.0.1:9",
    apiKey: "none",
    api: "scripted",
    streamSimple: answer,
    models: [
      {
        id: "model",
        name: "Scripted",
        reasoning: false,
        input: ["text", "image"],
        cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
        contextWindow: 1_000_000,
        maxTokens: 1_000,
      },
    ],
  });
}

export { scriptedModel as default };
