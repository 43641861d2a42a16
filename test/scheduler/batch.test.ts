import { describe, expect, it } from "vitest";
import { withMutationKeys } from "../../src/contract/mutation-queue.js";
import type { AgentTool } from "../../src/contract/tool.js";
import { createScheduler, type SchedulerOptions } from "../../src/scheduler/index.js";
import { call, gate, lines, type Note, noteTool, recorder, text, turn } from "./fixtures.js";

/**
 * Tools that write down each of their steps as `step id`. `a…` are bound to environment A, `b…` to B, `free…` to none;
 * those that end in "Seq" are sequential. A call waits as many turns as its count says.
 */
function diary(options: Omit<SchedulerOptions, "tools"> = {}) {
  const log: string[] = [];
  const tools = ["a", "aSeq", "b", "bSeq", "free", "freeSeq"].map((name): AgentTool<Note> => {
    const environmentId = { a: "A", b: "B" }[name.charAt(0)];
    return noteTool(name, {
      ...(environmentId !== undefined && { environmentId }),
      ...(name.endsWith("Seq") && { executionMode: "sequential" as const }),
      async run({ count = 1 }, { id }) {
        log.push(`run ${id}`);
        for (let index = 0; index < count; index += 1) await turn();
        log.push(`done ${id}`);
        return text(id);
      },
    });
  });
  const scheduler = createScheduler({
    beforeToolCall: async ({ call: { id } }) => {
      log.push(`before ${id}`);
      await turn();
      log.push(`allowed ${id}`);
    },
    afterToolCall: async ({ call: { id } }) => {
      log.push(`after ${id}`);
      await turn();
    },
    ...options,
    tools,
  });
  return { log, scheduler };
}

/** Where each step came in the log. */
const placeIn = (log: readonly string[]) => (step: string) => {
  const place = log.indexOf(step);
  expect(place, step).toBeGreaterThanOrEqual(0);
  return place;
};

describe("three phases", () => {
  it("checks one call at a time in source order, executes together, ends as they come, answers in source order", async () => {
    const record = recorder();
    const { log, scheduler } = diary({ onEvent: record.onEvent });
    const batch = await scheduler.runBatch([call("1", "a", { count: 9 }), call("2", "b", { count: 5 }), call("3", "free", { count: 1 })]);
    expect(log).toEqual([
      ...["before 1", "allowed 1", "before 2", "allowed 2", "before 3", "allowed 3"],
      ...["run 1", "run 2", "run 3", "done 3", "after 3", "done 2", "after 2", "done 1", "after 1"],
    ]);
    expect(record.lines).toEqual([
      ...["batch_start", "start 1", "start 2", "start 3"],
      ...["end 3", "end 2", "end 1", "result 1", "result 2", "result 3", "batch_end"],
    ]);
    expect(lines(batch)).toEqual(["1 ok 1", "2 ok 2", "3 ok 3"]);
  });

  it("tells results as soon as all before them are there", async () => {
    const record = recorder();
    const { scheduler } = diary({ onEvent: record.onEvent });
    await scheduler.runBatch([call("1", "a", { count: 2 }), call("2", "nothing"), call("3", "b", { count: 9 })]);
    expect(record.lines).toEqual([
      ...["batch_start", "start 1", "start 2", "end 2", "start 3"],
      ...["end 1", "result 1", "result 2", "end 3", "result 3", "batch_end"],
    ]);
  });

  it("reports each call's facts", async () => {
    const record = recorder();
    const { scheduler } = diary({ onEvent: record.onEvent });
    await scheduler.runBatch([call("1", "a", { note: "n" }), call("2", "nothing", [1])]);
    const durationMs = expect.any(Number);
    expect(record.events).toEqual(
      expect.arrayContaining([
        { type: "batch_start", calls: [call("1", "a", { note: "n" }), call("2", "nothing", [1])] },
        { type: "tool_execution_start", id: "1", name: "a", arguments: { note: "n" } },
        { type: "tool_execution_start", id: "2", name: "nothing", arguments: [1] },
        { type: "tool_execution_end", id: "1", name: "a", isError: false, durationMs },
        { type: "tool_execution_end", id: "2", name: "nothing", isError: true, durationMs: 0 },
        { type: "tool_result", id: "1", name: "a", content: [{ type: "text", text: "1" }], isError: false },
        { type: "batch_end", results: 2, errors: 1, durationMs },
      ]),
    );
  });

  it("runs an empty batch", async () => {
    expect(await diary().scheduler.runBatch([])).toEqual({ results: [], terminate: false });
  });

  it("executes sixty-four calls at once without a warning of a leak", async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on("warning", note);
    let running = 0;
    let most = 0;
    const tool = noteTool("note", {
      async run(_, { signal }) {
        signal.addEventListener("abort", () => undefined);
        running += 1;
        most = Math.max(most, running);
        await turn();
        running -= 1;
        return text("");
      },
    });
    const calls = Array.from({ length: 64 }, (_, index) => call(`${index}`, "note"));
    await createScheduler({ tools: [tool] }).runBatch(calls, { signal: new AbortController().signal });
    await turn();
    process.off("warning", note);
    expect({ most, warnings }).toEqual({ most: 64, warnings: [] });
  });
});

describe("sequential veto", () => {
  const stepsOf = (...ids: string[]) => ids.flatMap((id) => [`before ${id}`, `allowed ${id}`, `run ${id}`, `done ${id}`, `after ${id}`]);

  it("makes an environment's calls run one by one, all five steps each", async () => {
    const { log, scheduler } = diary();
    await scheduler.runBatch([call("1", "a", { count: 5 }), call("2", "aSeq"), call("3", "a")]);
    expect(log).toEqual(stepsOf("1", "2", "3"));
  });

  it("leaves other environments parallel, and their checks one at a time in source order", async () => {
    const { log, scheduler } = diary();
    await scheduler.runBatch([
      call("a1", "aSeq", { count: 20 }),
      call("b1", "b", { count: 20 }),
      call("a2", "a", { count: 20 }),
      call("b2", "b", { count: 20 }),
      call("f1", "free", { count: 20 }),
    ]);
    const at = placeIn(log);
    expect(log.filter((step) => step.includes("a1") || step.includes("a2"))).toEqual(stepsOf("a1", "a2"));
    expect(log.slice(0, 2)).toEqual(["before a1", "allowed a1"]);
    for (const id of ["b1", "b2", "f1"]) expect(at(`run ${id}`)).toBeLessThan(at("done a1"));
    for (const id of ["b2", "f1"]) expect(at(`run ${id}`)).toBeLessThan(at("done b1"));
    const checks = log.filter((step) => step.startsWith("before") || step.startsWith("allowed"));
    expect(checks).toEqual(["a1", "b1", "b2", "f1", "a2"].flatMap((id) => [`before ${id}`, `allowed ${id}`]));
  });

  it("lets the call that comes first be checked first, whatever group it is in", async () => {
    const { log, scheduler } = diary();
    await scheduler.runBatch([call("b1", "b"), call("a1", "aSeq"), call("b2", "b"), call("b3", "b")]);
    expect(log.filter((step) => step.startsWith("before"))).toEqual(["before b1", "before a1", "before b2", "before b3"]);
  });

  it("runs two vetoed environments beside each other", async () => {
    const { log, scheduler } = diary();
    await scheduler.runBatch([call("a1", "aSeq", { count: 20 }), call("b1", "bSeq", { count: 20 }), call("a2", "a"), call("b2", "b")]);
    const at = placeIn(log);
    expect(at("run b1")).toBeLessThan(at("done a1"));
    expect(at("run a1")).toBeLessThan(at("done b1"));
    expect(at("after a1")).toBeLessThan(at("before a2"));
    expect(at("after b1")).toBeLessThan(at("before b2"));
  });

  it("of a tool bound to no environment, and the global switch, cover the whole batch", async () => {
    const vetoed = diary();
    await vetoed.scheduler.runBatch([call("1", "a"), call("2", "b"), call("3", "freeSeq"), call("4", "nothing"), call("5", "a")]);
    expect(vetoed.log).toEqual(stepsOf("1", "2", "3", "5"));
    const switched = diary({ toolExecution: "sequential" });
    await switched.scheduler.runBatch([call("1", "a"), call("2", "b"), call("3", "free")]);
    expect(switched.log).toEqual(stepsOf("1", "2", "3"));
  });

  it("reaches no further than its batch", async () => {
    const { log, scheduler } = diary();
    await Promise.all([scheduler.runBatch([call("1", "aSeq", { count: 20 })]), scheduler.runBatch([call("2", "a"), call("3", "a")])]);
    expect(placeIn(log)("done 3")).toBeLessThan(placeIn(log)("done 1"));
  });

  it("goes on after a failure", async () => {
    const { scheduler } = diary({ toolExecution: "sequential", beforeToolCall: ({ call: { id } }) => ({ block: id === "1" }) });
    expect(
      lines(await scheduler.runBatch([call("1", "a"), call("2", "a", { count: 0 }), call("3", "a")])).map((line) =>
        line.split(" ", 2).join(" "),
      ),
    ).toEqual(["1 permission_denied", "2 invalid_argument", "3 ok"]);
  });
});

describe("concurrency", () => {
  it("bounds what executes on each environment, across batches, in order, and on no other", async () => {
    const { log, scheduler } = diary({ concurrency: 2 });
    const batch = (name: string, ids: string[]) => scheduler.runBatch(ids.map((id) => call(id, name, { count: 9 })));
    const tasks = [batch("a", ["a1", "a2", "a3"]), batch("a", ["a4"]), batch("b", ["b1"]), batch("free", ["f1", "f2", "f3"])];
    await Promise.all(tasks);
    const at = placeIn(log);
    let running = 0;
    for (const step of log) {
      if (/^run a/.test(step)) running += 1;
      if (/^done a/.test(step)) running -= 1;
      expect(running).toBeLessThanOrEqual(2);
    }
    const firstEnd = Math.min(...["a1", "a2", "a3", "a4"].map((id) => at(`done ${id}`)));
    for (const id of ["b1", "f1", "f2", "f3"]) expect(at(`run ${id}`)).toBeLessThan(firstEnd);
  });
});

describe("fairness", () => {
  it("Q07 a thousand calls that wait for one environment do not hold up another's first", async () => {
    const { log, scheduler } = diary({ concurrency: 1, beforeToolCall: [], afterToolCall: [] });
    const flood = scheduler.runBatch(Array.from({ length: 1_000 }, (_, index) => call(`a${index}`, "a", { count: 1 })));
    for (let index = 0; index < 20; index += 1) await turn();
    const before = log.length;
    await scheduler.runBatch([call("b", "b", { count: 1 })]);
    expect(log.slice(before, log.indexOf("done b")).filter((step) => step.startsWith("done")).length).toBeLessThan(10);
    await flood;
  });
});

describe("the mutation queue seen from here", () => {
  it("is told of as an event", async () => {
    const record = recorder();
    const opened = gate();
    const tool = noteTool("write", {
      async run(_, { onQueued }) {
        return await withMutationKeys(["env:/a"], async () => text("written"), { onQueued });
      },
    });
    const holder = withMutationKeys(["env:/a"], () => opened.passed);
    const running = createScheduler({ tools: [tool], onEvent: record.onEvent }).runBatch([call("1", "write")]);
    await turn();
    opened.open();
    await Promise.all([holder, running]);
    expect(record.lines).toContain("queued env:/a 1");
  });
});

describe("terminate", () => {
  const ending = noteTool("end", { run: () => text("bye", { terminate: true }) });
  const scheduler = createScheduler({ tools: [ending, noteTool("note")] });

  it("is heeded only if every result asks it", async () => {
    expect(await scheduler.runBatch([call("1", "end"), call("2", "end")])).toMatchObject({ terminate: true });
    expect(await scheduler.runBatch([call("1", "end"), call("2", "note")])).toMatchObject({ terminate: false });
    expect(await scheduler.runBatch([call("1", "end"), call("2", "nothing")])).toMatchObject({ terminate: false });
  });
});

describe("listeners", () => {
  it("that throw, reject or never come back harm nobody", async () => {
    const record = recorder();
    const scheduler = createScheduler({
      tools: [noteTool("note")],
      onEvent: () => {
        throw new Error("broken listener");
      },
    });
    scheduler.onEvent(() => Promise.reject(new Error("rejecting listener")) as unknown as undefined);
    scheduler.onEvent(() => new Promise<never>(() => undefined) as unknown as undefined);
    const leave = scheduler.onEvent(record.onEvent);
    expect(lines(await scheduler.runBatch([call("1", "note")]))).toEqual(["1 ok note"]);
    expect(record.lines).toEqual(["batch_start", "start 1", "end 1", "result 1", "batch_end"]);
    leave();
    await scheduler.runBatch([call("1", "note")]);
    expect(record.lines).toHaveLength(5);
  });
});
