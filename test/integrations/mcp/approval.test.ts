import type { Client } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, it } from "vitest";
import { type BeforeToolCall, textResult } from "../../../src/index.js";
import type { McpServer } from "../../../src/integrations/mcp/index.js";
import {
  type Connected,
  closeAll,
  connect,
  connectHttp,
  type Era,
  EVERY_WAY,
  listen,
  OTHER_TOKEN,
  serve,
  TOKEN,
  textOf,
  tool,
  type Wire,
} from "./fixtures.js";
import { MODERN_META, rawHttp } from "./raw.js";

afterEach(closeAll);

const asking: BeforeToolCall = ({ call }) => ({ ask: `May ${call.name} run?` });

/** A server that asks before every call, and what its tool did. */
function askingServer(beforeToolCall: BeforeToolCall | readonly BeforeToolCall[] = asking): {
  readonly server: McpServer;
  readonly ran: string[];
} {
  const ran: string[] = [];
  const act = tool("act", async ({ note }) => {
    ran.push(note ?? "");
    return textResult(`did ${note}`);
  });
  return { server: serve({ target: { tools: [act] }, beforeToolCall }), ran };
}

type Answer = { action: "accept"; content: Record<string, never> } | { action: "decline" } | { action: "cancel" };

function answering(client: Client, answers: readonly Answer[]): string[] {
  const questions: string[] = [];
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    questions.push(params.message);
    return answers[questions.length - 1] ?? { action: "cancel" };
  });
  return questions;
}

const ELICITS = { capabilities: { elicitation: { form: {} } } };
const YES: Answer = { action: "accept", content: {} };

async function connected(server: McpServer, way: { readonly wire: Wire; readonly era: Era }): Promise<Connected> {
  return await connect(server, way, ELICITS);
}

describe.each(EVERY_WAY)("consent over $wire in $era", (way) => {
  it("is asked for before anything happens, and a yes lets the call run once", async () => {
    const { server, ran } = askingServer();
    const { client } = await connected(server, way);
    const questions = answering(client, [YES, YES]);
    expect(textOf(await client.callTool({ name: "act", arguments: { note: "a" } }))).toBe("did a");
    expect(textOf(await client.callTool({ name: "act", arguments: { note: "b" } }))).toBe("did b");
    expect(questions).toEqual(["May act run?", "May act run?"]);
    expect(ran).toEqual(["a", "b"]);
  });

  it("refused or withheld, nothing happens", async () => {
    const { server, ran } = askingServer();
    const { client } = await connected(server, way);
    answering(client, [{ action: "decline" }, { action: "cancel" }]);
    const declined = await client.callTool({ name: "act", arguments: { note: "a" } });
    expect(declined).toMatchObject({ isError: true, _meta: { "glovebox.error": "permission_denied" } });
    expect(textOf(declined)).toBe("act did not run: the person who was asked said no. Do not repeat the call as it is.");
    expect(textOf(await client.callTool({ name: "act", arguments: { note: "b" } }))).toBe(
      "act did not run: the person who was asked said no: they closed the question without an answer. Do not repeat the call as it is.",
    );
    expect(ran).toEqual([]);
  });

  it("takes a yes to each question, where several hooks ask", async () => {
    const { server, ran } = askingServer([() => ({ ask: "First?" }), () => ({ ask: "Second?" })]);
    const { client } = await connected(server, way);
    const questions = answering(client, [YES, YES, YES, { action: "decline" }]);
    expect(textOf(await client.callTool({ name: "act", arguments: { note: "a" } }))).toBe("did a");
    expect(textOf(await client.callTool({ name: "act", arguments: { note: "b" } }))).toContain("said no");
    expect(questions).toEqual(["First?", "Second?", "First?", "Second?"]);
    expect(ran).toEqual(["a"]);
  });

  it("cannot be had from a client that asks nobody: refused in words", async () => {
    const { server, ran } = askingServer();
    const { client } = await connect(server, way);
    expect(textOf(await client.callTool({ name: "act", arguments: { note: "a" } }))).toBe(
      "act did not run: it needs a person's consent, and this client cannot ask for it (it does not support elicitation). Go on without it, or tell the user that the server's policy would have to allow it.",
    );
    expect(ran).toEqual([]);
  });

  it("may take longer than a hook, and holds nobody else up", async () => {
    const act = tool("act", async () => textResult("acted"), { executionMode: "sequential" });
    const look = tool("look", async () => textResult("looked"));
    const server = serve({
      target: { tools: [act, look] },
      beforeToolCall: ({ call }) => (call.name === "act" ? { ask: "May it?" } : undefined),
    });
    const { client } = await connected(server, way);
    let answer: (answer: Answer) => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      client.setRequestHandler("elicitation/create", async () => {
        resolve();
        return await new Promise<Answer>((settle) => {
          answer = settle;
        });
      });
    });
    const call = client.callTool({ name: "act", arguments: {} });
    await asked;
    expect(textOf(await client.callTool({ name: "look", arguments: {} }))).toBe("looked");
    answer(YES);
    expect(textOf(await call)).toBe("acted");
  });
});

describe("the state that travels through a client", () => {
  const call = (note: string, more: object = {}, id = 1) => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name: "act", arguments: { note }, _meta: META, ...more },
  });
  const META = { ...MODERN_META, "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } } };
  const yes = (requestState: unknown) => ({ inputResponses: { consent: { action: "accept", content: {} } }, requestState });

  it("is good for one call, one caller, these arguments, and as it was signed", async () => {
    const { server, ran } = askingServer();
    const { url } = await listen(server);
    const alice = rawHttp(url, TOKEN);
    const first = (await alice.ask(call("a"))).result as { requestState: string; resultType: string; inputRequests: unknown };
    expect(first).toMatchObject({
      resultType: "input_required",
      inputRequests: {
        consent: { method: "elicitation/create", params: { message: "May act run?", requestedSchema: { type: "object", properties: {} } } },
      },
    });
    const { requestState } = first;

    const [version, body = "", mac] = requestState.split(".");
    const payload = JSON.parse(Buffer.from(body, "base64url").toString()) as { p: { granted: string[]; asked: string } };
    payload.p.granted.push(payload.p.asked);
    const forged = `${version}.${Buffer.from(JSON.stringify(payload)).toString("base64url")}.${mac}`;
    for (const state of [forged, `${requestState}x`, "", "v1..", 7, null]) {
      const { result, error } = await alice.ask(call("a", yes(state)));
      if (error === undefined) expect(result).toMatchObject({ resultType: "input_required" });
      else expect(error.code).toBe(-32602);
    }
    expect((await rawHttp(url, OTHER_TOKEN).ask(call("a", yes(requestState)))).error?.code).toBe(-32602);
    expect((await alice.ask(call("other", yes(requestState)))).result).toMatchObject({ resultType: "input_required" });
    expect(ran).toEqual([]);

    const second = (await alice.ask(call("a"))).result as { requestState: string };
    expect(textOf((await alice.ask(call("a", yes(second.requestState)))).result)).toBe("did a");
    expect((await alice.ask(call("a", yes(second.requestState)))).result).toMatchObject({ resultType: "input_required" });
    expect(ran).toEqual(["a"]);
  });

  it("says nothing without an answer", async () => {
    const { server, ran } = askingServer();
    const { ask } = rawHttp((await listen(server)).url, TOKEN);
    const { requestState } = (await ask(call("a"))).result as { requestState: string };
    for (const responses of [
      {},
      { other: { action: "accept" } },
      { consent: { action: "accepted" } },
      { consent: null },
      { consent: "accept" },
    ]) {
      const { result, error } = await ask(call("a", { inputResponses: responses, requestState }));
      expect(error ?? result).toMatchObject(error === undefined ? { resultType: "input_required" } : { code: -32602 });
    }
    expect(textOf((await ask(call("a", { inputResponses: { consent: { action: "accept" } } }))).result)).not.toContain("did a");
    expect(ran).toEqual([]);
  });
});

describe("a host that asks by itself", () => {
  it("is asked instead of the client", async () => {
    const asked: string[] = [];
    const act = tool("act", async () => textResult("did it"));
    const ask = async ({ question }: { readonly question: string }) => {
      asked.push(question);
      return { allow: true };
    };
    const server = serve({ target: { tools: [act] }, beforeToolCall: asking, ask });
    const { client } = await connectHttp((await listen(server)).url, "2025-11-25");
    expect(textOf(await client.callTool({ name: "act", arguments: {} }))).toBe("did it");
    expect(asked).toEqual(["May act run?"]);
  });
});
