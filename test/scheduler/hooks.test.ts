import { describe, expect, it, vi } from "vitest";
import { type AfterToolCallReplacement, type BeforeToolCallVerdict, createScheduler } from "../../src/scheduler/index.js";
import { call, noteTool, runUnder, text } from "./fixtures.js";

describe("beforeToolCall", () => {
  it("may be any function that returns nothing, or a list of them", async () => {
    const nothing = () => {};
    const asynchronous = async () => {};
    const { lines: told } = await runUnder({
      beforeToolCall: [nothing, asynchronous, () => ({ block: false })],
      afterToolCall: [nothing, asynchronous],
    });
    expect(told).toEqual(["1 ok secret 1234"]);
  });

  it("blocks with its reason, and later hooks are not asked", async () => {
    const later = vi.fn();
    const outcome = await runUnder({ beforeToolCall: [() => ({ block: true, reason: "notes are frozen" }), later] });
    expect(outcome.lines).toEqual([
      "1 permission_denied note did not run: it was blocked: notes are frozen. Do not repeat the call as it is.",
    ]);
    expect(outcome.ran).toEqual([]);
    expect(later).not.toHaveBeenCalled();
  });

  it("Q06 T16 blocks when it throws; the host is told why, the model is not", async () => {
    const outcome = await runUnder({
      beforeToolCall: () => {
        throw new Error("policy server at https://user:pass@host refused");
      },
    });
    expect(outcome.lines).toEqual([
      "1 unexpected note did not run: a check that every call has to pass failed. Tell the user if it happens again.",
    ]);
    expect(outcome.failures).toEqual(["hook_failed 1 beforeToolCall: policy server at https://user:pass@host refused"]);
    expect(outcome.ran).toEqual([]);
  });

  it.each([
    null,
    true,
    "block",
    0,
    {},
    { blocked: true },
    { block: "yes" },
    { block: 1, reason: "r" },
    { reason: "r" },
    { ask: true },
    { block: false, arguments: {} },
  ])("T16 blocks when it answers something that is no verdict: %j", async (answer) => {
    const outcome = await runUnder({ beforeToolCall: () => answer as unknown as BeforeToolCallVerdict });
    expect(outcome.ran).toEqual([]);
    expect(outcome.lines[0]).toMatch(/^1 unexpected note did not run: a check/);
    expect(outcome.failures).toHaveLength(1);
  });

  it("Q06 T16 cannot change what runs by changing what it was shown", async () => {
    const raw = { note: "raw" };
    const outcome = await runUnder(
      {
        beforeToolCall: (context) => {
          raw.note = "changed behind";
          (context.arguments as { note: string }).note = "changed";
          return undefined;
        },
      },
      raw,
    );
    expect(outcome.lines[0]).toMatch(/^1 unexpected note did not run/);
    expect(outcome.failures).toEqual([expect.stringContaining("Cannot assign to read only property 'note'")]);
    const swallowed = await runUnder(
      {
        beforeToolCall: ({ call: shown, arguments: args }) => {
          Reflect.set(args as object, "note", "changed");
          Reflect.set(shown.arguments as object, "note", "changed");
          Reflect.set(shown, "arguments", {});
          return undefined;
        },
      },
      { note: "raw" },
    );
    expect(swallowed.ran).toEqual([{ note: "raw" }]);
  });

  it("replaces arguments, which are validated and frozen again and shown to later hooks", async () => {
    const seen: unknown[] = [];
    const replacement = { note: "redacted", count: "3" };
    const outcome = await runUnder({
      beforeToolCall: [
        () => ({ arguments: replacement }),
        (context) => {
          seen.push(context.arguments, context.call.arguments, Object.isFrozen(context.arguments));
          replacement.note = "changed later";
          return undefined;
        },
      ],
    });
    expect(seen).toEqual([{ note: "redacted", count: 3 }, { note: "redacted", count: 3 }, true]);
    expect(outcome.ran).toEqual([{ note: "redacted", count: 3 }]);
  });

  it("blocks when its replacement is not valid", async () => {
    const outcome = await runUnder({ beforeToolCall: () => ({ arguments: { note: 7 } }) });
    expect(outcome.ran).toEqual([]);
    expect(outcome.lines).toEqual([
      "1 unexpected note did not run: a check that every call has to pass failed. Tell the user if it happens again.",
    ]);
    expect(outcome.failures[0]).toContain("it replaced the arguments with invalid ones");
  });

  it("is not consulted about a call that is not valid", async () => {
    const hook = vi.fn();
    await runUnder({ beforeToolCall: hook }, { note: 1 });
    expect(hook).not.toHaveBeenCalled();
  });
});

describe("ask", () => {
  const beforeToolCall = () => ({ ask: "May it note x?" });

  it("runs the call when the person allows it", async () => {
    const ask = vi.fn(async () => ({ allow: true }));
    const outcome = await runUnder({ beforeToolCall, ask });
    expect(outcome.ran).toEqual([{ note: "x" }]);
    expect(ask).toHaveBeenCalledWith({
      question: "May it note x?",
      call: { id: "1", name: "note", arguments: { note: "x" } },
      tool: expect.objectContaining({ name: "note" }),
      arguments: { note: "x" },
      signal: expect.any(AbortSignal),
    });
  });

  it.each([
    [{ allow: false, reason: "Not today!" }, "said no: Not today! Do"],
    [{ allow: false }, "said no. Do"],
    [{ allow: "yes" }, "said no. Do"],
    [undefined, "said no. Do"],
  ])("does not run it on %j", async (decision, words) => {
    const outcome = await runUnder({ beforeToolCall, ask: async () => decision as { allow: boolean } });
    expect(outcome.ran).toEqual([]);
    expect(outcome.lines).toEqual([
      `1 permission_denied note did not run: the person who was asked ${words} not repeat the call as it is.`,
    ]);
  });

  it("does not run it when there is nobody to ask, or asking fails", async () => {
    expect((await runUnder({ beforeToolCall })).lines).toEqual([
      "1 permission_denied note did not run: it needs a person's consent, and there is nobody to ask here. Go on without it.",
    ]);
    const outcome = await runUnder({ beforeToolCall, ask: () => Promise.reject(new Error("window closed")) });
    expect(outcome.lines[0]).toMatch(/^1 unexpected note did not run: a check/);
    expect(outcome.failures).toEqual(["hook_failed 1 ask: window closed"]);
  });
});

describe("afterToolCall", () => {
  it("replaces the fields it names, each hook on what the one before left", async () => {
    const seen: unknown[] = [];
    const { batch } = await runUnder({
      afterToolCall: [
        () => ({ content: [{ type: "text", text: "secret ****" }], details: { secret: null } }),
        ({ result }) => {
          seen.push(result);
          return { isError: true, terminate: true };
        },
        async () => {},
      ],
    });
    expect(seen).toEqual([text("secret ****", { details: { secret: null } })]);
    expect(batch).toEqual({
      results: [{ id: "1", name: "note", ...text("secret ****", { details: { secret: null }, isError: true, terminate: true }) }],
      terminate: true,
    });
  });

  it("withholds the result when it throws, from the model and from its own error", async () => {
    const outcome = await runUnder({
      afterToolCall: [
        ({ result }) => {
          throw new Error(`cannot redact ${JSON.stringify(result)}`);
        },
        () => ({ content: [{ type: "text", text: "never asked" }] }),
      ],
    });
    expect(JSON.stringify(outcome.batch)).not.toContain("1234");
    expect(outcome.lines).toEqual([
      "1 unexpected note ran, but its result is withheld: a check that every result has to pass failed. What it did is done: check the state before calling it again.",
    ]);
    expect(outcome.batch.results[0]?.details).toMatchObject({ error: { code: "unexpected", retrySafe: false } });
    expect(outcome.failures[0]).toContain("hook_failed 1 afterToolCall: cannot redact");
  });

  it.each([
    null,
    "text",
    [],
    { contents: [] },
    { content: undefined },
    { content: "text" },
    { content: [{ type: "text" }] },
    { isError: undefined },
    { isError: "no" },
  ])("withholds the result when it answers something that is no part of one: %j", async (answer) => {
    const outcome = await runUnder({ afterToolCall: () => answer as unknown as AfterToolCallReplacement });
    expect(JSON.stringify(outcome.batch)).not.toContain("1234");
    expect(outcome.lines[0]).toMatch(/^1 unexpected note ran, but its result is withheld/);
    expect(outcome.failures).toHaveLength(1);
  });

  it("cannot change the result by changing what it was shown", async () => {
    const outcome = await runUnder({
      afterToolCall: ({ result }) => {
        (result.content[0] as { text: string }).text = "changed";
        return undefined;
      },
    });
    expect(outcome.lines[0]).toMatch(/^1 unexpected note ran, but its result is withheld/);
  });

  it("reviews what a tool threw, and is not told of calls that did not run", async () => {
    const seen: string[] = [];
    const scheduler = createScheduler({
      tools: [
        noteTool("fails", {
          run: () => {
            throw new Error("secret 1234");
          },
        }),
      ],
      afterToolCall: ({ call: { id } }) => {
        seen.push(id);
        return { content: [{ type: "text", text: "****" }], details: undefined };
      },
    });
    const { results } = await scheduler.runBatch([call("1", "fails"), call("2", "fails", { stray: 1 }), call("3", "nothing")]);
    expect(seen).toEqual(["1"]);
    expect(results[0]).toEqual({ id: "1", name: "fails", content: [{ type: "text", text: "****" }], isError: true });
  });
});
