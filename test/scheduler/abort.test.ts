import { describe, expect, it, vi } from "vitest";
import { GloveboxError } from "../../src/contract/errors.js";
import { mutationKeysInUse, withMutationKeys } from "../../src/contract/mutation-queue.js";
import { createScheduler } from "../../src/scheduler/index.js";
import { call, gate, lines, noteTool, recorder, text, turn } from "./fixtures.js";

/** Resolves when the signal fires, as a tool does that has to kill something first. */
const fired = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

const notRun = (name: string) =>
  `aborted ${name} did not run: the batch was aborted before its turn came. Call it again if it is still wanted.`;

describe("abort", () => {
  it("awaits what runs, with the output it had, and starts nothing more", async () => {
    const controller = new AbortController();
    const steps: string[] = [];
    const tool = noteTool("note", {
      executionMode: "sequential",
      environmentId: "A",
      async run(_, { signal, onUpdate }) {
        onUpdate(text("half of it"));
        controller.abort();
        await fired(signal);
        for (let index = 0; index < 5; index += 1) await turn();
        steps.push("dead");
        return text("killed, after half of it", { isError: true });
      },
    });
    const scheduler = createScheduler({ tools: [tool], beforeToolCall: ({ call: { id } }) => void steps.push(`before ${id}`) });
    const batch = await scheduler.runBatch([call("1", "note"), call("2", "note"), call("3", "note")], { signal: controller.signal });
    expect(steps).toEqual(["before 1", "dead"]);
    expect(lines(batch)).toEqual(["1 error killed, after half of it", `2 ${notRun("note")}`, `3 ${notRun("note")}`]);
    expect(batch.results[1]?.details).toMatchObject({ error: { code: "aborted", retrySafe: true } });
  });

  it("before the batch starts none of it, and every call still has its events", async () => {
    const record = recorder();
    const ran = vi.fn();
    const scheduler = createScheduler({ tools: [noteTool("note", { run: ran })], beforeToolCall: ran, onEvent: record.onEvent });
    expect(lines(await scheduler.runBatch([call("1", "note"), call("2", "nothing")], { signal: AbortSignal.abort() }))).toEqual([
      `1 ${notRun("note")}`,
      '2 not_found There is no tool named "nothing". The tools here are note.',
    ]);
    expect(ran).not.toHaveBeenCalled();
    expect(record.lines).toEqual(["batch_start", "start 1", "end 1", "result 1", "start 2", "end 2", "result 2", "batch_end"]);
  });

  it("for lack of time is called so", async () => {
    const signal = AbortSignal.abort(new DOMException("late", "TimeoutError"));
    expect(lines(await createScheduler({ tools: [noteTool("note")] }).runBatch([call("1", "note")], { signal }))).toEqual([
      "1 timeout note did not run: the time ran out before its turn came. Call it again if it is still wanted.",
    ]);
  });

  it("does not wait for a hook or for a person, who hear of it", async () => {
    const heard: unknown[] = [];
    const never = ({ signal }: { signal: AbortSignal }) => {
      signal.addEventListener("abort", () => heard.push(signal.reason));
      return new Promise<never>(() => undefined);
    };
    for (const beforeToolCall of [never, () => ({ ask: "May it?" })]) {
      const controller = new AbortController();
      const scheduler = createScheduler({ tools: [noteTool("note")], beforeToolCall, ask: never });
      const running = scheduler.runBatch([call("1", "note"), call("2", "note")], { signal: controller.signal });
      await turn();
      controller.abort("enough");
      expect(lines(await running)).toEqual([`1 ${notRun("note")}`, `2 ${notRun("note")}`]);
    }
    expect(heard).toEqual(["enough", "enough"]);
  });

  it("keeps a success that came all the same", async () => {
    const controller = new AbortController();
    const tool = noteTool("note", {
      run: () => {
        controller.abort();
        return text("done before it heard");
      },
    });
    expect(lines(await createScheduler({ tools: [tool] }).runBatch([call("1", "note")], { signal: controller.signal }))).toEqual([
      "1 ok done before it heard",
    ]);
  });

  it("shows what a tool had reported before it rejected", async () => {
    const controller = new AbortController();
    const abortable = (reject: (signal: AbortSignal) => unknown) =>
      noteTool("note", {
        async run(_, { signal, onUpdate }) {
          onUpdate(text("line 1\nline 2"));
          queueMicrotask(() => controller.abort(new Error("stop")));
          await fired(signal);
          throw reject(signal);
        },
      });
    const own = abortable(() => new GloveboxError("aborted", "The command was killed."));
    expect(lines(await createScheduler({ tools: [own] }).runBatch([call("1", "note")], { signal: controller.signal }))).toEqual([
      "1 aborted line 1\nline 2 | The command was killed.",
    ]);
  });

  it.each([
    ["the signal's reason", (signal: AbortSignal): unknown => signal.reason],
    ["an AbortError", (): unknown => new DOMException("This operation was aborted", "AbortError")],
  ])("recognises %s, thrown back by a foreign tool", async (_, thrown) => {
    const controller = new AbortController();
    const tool = noteTool("note", {
      async run(_parameters, { signal }) {
        controller.abort(new Error("stop"));
        await fired(signal);
        throw thrown(signal);
      },
    });
    expect(lines(await createScheduler({ tools: [tool] }).runBatch([call("1", "note")], { signal: controller.signal }))).toEqual([
      "1 aborted The call was aborted.",
    ]);
  });

  it("takes calls that wait for a free slot out of the line", async () => {
    const controller = new AbortController();
    const opened = gate();
    const tool = noteTool("note", {
      environmentId: "A",
      async run() {
        await opened.passed;
        return text("ran");
      },
    });
    const scheduler = createScheduler({ tools: [tool], concurrency: 1 });
    const first = scheduler.runBatch([call("1", "note")]);
    await turn();
    const second = scheduler.runBatch([call("2", "note")], { signal: controller.signal });
    const third = scheduler.runBatch([call("3", "note")]);
    await turn();
    controller.abort();
    expect(lines(await second)).toEqual([`2 ${notRun("note")}`]);
    opened.open();
    expect([...lines(await first), ...lines(await third)]).toEqual(["1 ok ran", "3 ok ran"]);
  });

  it("lets go of the caller's signal when the batch is over", async () => {
    const controller = new AbortController();
    const remove = vi.spyOn(controller.signal, "removeEventListener");
    const add = vi.spyOn(controller.signal, "addEventListener");
    await createScheduler({ tools: [noteTool("note")] }).runBatch([call("1", "note")], { signal: controller.signal });
    expect(add).toHaveBeenCalledTimes(1);
    expect(remove).toHaveBeenCalledWith("abort", add.mock.calls[0]?.[1]);
  });
});

describe("a tool that ignores its signal", () => {
  it("is unknown_outcome after the grace, and holds its keys until it settles", async () => {
    vi.useFakeTimers();
    try {
      const controller = new AbortController();
      const opened = gate();
      const record = recorder();
      const tool = noteTool("stubborn", {
        run: (_, { onUpdate }) =>
          withMutationKeys(["env:/a"], async () => {
            onUpdate(text("wrote one half"));
            await opened.passed;
            onUpdate(text("wrote the other half"));
            throw new Error("too late to matter");
          }),
      });
      const scheduler = createScheduler({
        tools: [tool],
        afterToolCall: ({ result }) => ({ details: result.details }),
        onEvent: record.onEvent,
      });
      let settled = false;
      const running = scheduler.runBatch([call("1", "stubborn")], { signal: controller.signal }).finally(() => {
        settled = true;
      });
      await vi.advanceTimersByTimeAsync(100_000);
      controller.abort();
      await vi.advanceTimersByTimeAsync(29_999);
      expect(settled).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      expect(lines(await running)).toEqual([
        "1 unknown_outcome wrote one half | stubborn was told to stop and had not stopped 30 s later: it may still be running, and what it did is not known. What it writes to stays locked until it ends. Check the state before going on.",
      ]);
      expect(mutationKeysInUse()).toBe(1);
      opened.open();
      await vi.advanceTimersByTimeAsync(1);
      expect(mutationKeysInUse()).toBe(0);
      expect(record.lines.filter((line) => line.startsWith("update"))).toEqual(["update 1 wrote one half"]);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});
