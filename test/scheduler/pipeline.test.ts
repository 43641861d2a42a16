import { describe, expect, it } from "vitest";
import { GloveboxError } from "../../src/contract/errors.js";
import type { ToolResult } from "../../src/contract/tool.js";
import { createScheduler } from "../../src/scheduler/index.js";
import { call, lines, noteTool, recorder, text, turn } from "./fixtures.js";

describe("the five steps of one call", () => {
  it("are taken in order, each on what the one before it made", async () => {
    const steps: unknown[] = [];
    const tool = noteTool("note", {
      prepareArguments(raw) {
        steps.push(["prepare", raw]);
        return { note: "prepared", count: "7" };
      },
      run(parameters, { id }) {
        steps.push(["execute", id, parameters]);
        return text("ran");
      },
    });
    const scheduler = createScheduler({
      tools: [tool],
      beforeToolCall: (context) => {
        steps.push(["before", context.arguments, context.call, context.tool === tool]);
        return undefined;
      },
      afterToolCall: (context) => {
        steps.push(["after", context.arguments, context.result]);
        return { content: [{ type: "text", text: "reviewed" }] };
      },
    });
    const batch = await scheduler.runBatch([call("1", "note", "anything")]);
    const prepared = { note: "prepared", count: 7 };
    expect(steps).toEqual([
      ["prepare", "anything"],
      ["before", prepared, { id: "1", name: "note", arguments: prepared }, true],
      ["execute", "1", prepared],
      ["after", prepared, text("ran")],
    ]);
    expect(batch).toEqual({
      results: [{ id: "1", name: "note", content: [{ type: "text", text: "reviewed" }], isError: false }],
      terminate: false,
    });
  });

  it("takes no arguments at all for an empty object", async () => {
    expect(lines(await createScheduler({ tools: [noteTool("note")] }).runBatch([call("1", "note", undefined)]))).toEqual(["1 ok note"]);
  });

  it("tells a model every field that is wrong, and as data", async () => {
    const { results } = await createScheduler({ tools: [noteTool("note")] }).runBatch([call("1", "note", { note: 1, count: 0, more: [] })]);
    expect(results[0]?.content).toEqual([
      {
        type: "text",
        text: `note did not run: its arguments are not valid.
- more: expected no such field, received an array of 0
- note: expected a string, received 1
- count: expected an integer >= 1, received 0
Call it again with these put right.`,
      },
    ]);
    expect(results[0]?.details).toMatchObject({
      error: { code: "invalid_argument", retrySafe: true, details: { issues: [{ field: "more" }, { field: "note" }, { field: "count" }] } },
    });
  });

  it("J04 refuses arguments of 10,000 levels and goes on", async () => {
    const deep = JSON.parse(`${'{"note":['.repeat(10_000)}1${"]}".repeat(10_000)}`) as unknown;
    const scheduler = createScheduler({ tools: [noteTool("note")], beforeToolCall: () => undefined });
    expect(lines(await scheduler.runBatch([call("1", "note", deep), call("2", "note", { note: "fine" })]))).toEqual([
      "1 invalid_argument note did not run: its arguments are not valid.\n- note: expected no more than 64 levels of nesting, received more\nCall it again with this put right.",
      "2 ok note fine",
    ]);
  });

  it("makes a refusal of a prepareArguments or a validator that throws", async () => {
    const throws = () => {
      throw new Error("cannot read properties");
    };
    const scheduler = createScheduler({ tools: [noteTool("one", { prepareArguments: throws }), noteTool("two", { validate: throws })] });
    const why =
      "could not make sense of its arguments (cannot read properties). Call it again with arguments as its schema describes them.";
    expect(lines(await scheduler.runBatch([call("1", "one"), call("2", "two")]))).toEqual([
      `1 invalid_argument one did not run: it ${why}`,
      `2 invalid_argument two did not run: it ${why}`,
    ]);
  });
});

describe("what a tool throws", () => {
  const failing = async (thrown: unknown) =>
    await createScheduler({
      tools: [
        noteTool("note", {
          run: () => {
            throw thrown;
          },
        }),
      ],
    }).runBatch([call("1", "note")]);

  it("becomes a result with the GloveboxError's words and data", async () => {
    const batch = await failing(
      new GloveboxError("no_space", "The disk is full. Free some space.", { path: "/a", details: { freeBytes: 0 } }),
    );
    expect(batch).toEqual({
      terminate: false,
      results: [
        {
          id: "1",
          name: "note",
          isError: true,
          content: [{ type: "text", text: "The disk is full. Free some space." }],
          details: {
            error: {
              code: "no_space",
              message: "The disk is full. Free some space.",
              retrySafe: false,
              path: "/a",
              details: { freeBytes: 0 },
            },
          },
        },
      ],
    });
  });

  it.each([
    [new TypeError("x is not a function"), "x is not a function"],
    ["a string", "a string"],
    [undefined, "undefined"],
    [Symbol("s"), "Symbol(s)"],
    [Object.create(null), "something that cannot be shown"],
    [new Error("e".repeat(5_000)), `${"e".repeat(2_000)}…`],
  ])("becomes `unexpected` when it is foreign (%#)", async (thrown, said) => {
    expect(lines(await failing(thrown))).toEqual([
      `1 unexpected note failed in a way it should not: ${said}. It may have done part of its work: check the state before calling it again.`,
    ]);
  });
});

describe("what a tool answers", () => {
  it.each([
    undefined,
    null,
    "text",
    [],
    {},
    { content: "text" },
    { content: [{ type: "text" }] },
    { content: [{ type: "video", data: "" }] },
  ])("is an error when it is no result: %j", async (answer) => {
    const scheduler = createScheduler({ tools: [noteTool("note", { run: () => answer as unknown as ToolResult })] });
    expect(lines(await scheduler.runBatch([call("1", "note")]))).toEqual([
      "1 unexpected note ran, but what it answered is not a result, so what it did is not known. Check the state before calling it again.",
    ]);
  });

  it("is passed on with its details, images and wish to end, and nothing else", async () => {
    const answer = { ...text("seen", { details: { lines: 1 }, terminate: true }), stray: 1 };
    const image = { type: "image", data: "AA==", mimeType: "image/png" } as const;
    const scheduler = createScheduler({ tools: [noteTool("note", { run: () => ({ ...answer, content: [...answer.content, image] }) })] });
    expect((await scheduler.runBatch([call("1", "note")])).results).toEqual([
      { id: "1", name: "note", content: [{ type: "text", text: "seen" }, image], details: { lines: 1 }, isError: false, terminate: true },
    ]);
  });
});

describe("updates", () => {
  it("come before the end, in order, and never once the tool has settled", async () => {
    const record = recorder();
    let late: ((update: ToolResult) => void) | undefined;
    const tool = noteTool("note", {
      async run(_, { onUpdate }) {
        late = onUpdate;
        onUpdate(text("one"));
        await turn();
        onUpdate({ garbage: true } as unknown as ToolResult);
        onUpdate(text("two"));
        setImmediate(() => onUpdate(text("too late")));
        return text("done");
      },
    });
    const scheduler = createScheduler({
      tools: [tool],
      afterToolCall: async () => {
        for (let index = 0; index < 3; index += 1) await turn();
        return undefined;
      },
      onEvent: record.onEvent,
    });
    await scheduler.runBatch([call("1", "note")]);
    late?.(text("much too late"));
    await turn();
    expect(record.lines).toEqual(["batch_start", "start 1", "update 1 one", "update 1 two", "end 1", "result 1", "batch_end"]);
  });
});
