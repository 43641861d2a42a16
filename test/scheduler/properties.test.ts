import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GloveboxError } from "../../src/contract/errors.js";
import { mutationKeysInUse, withMutationKeys } from "../../src/contract/mutation-queue.js";
import type { AgentTool } from "../../src/contract/tool.js";
import { createScheduler } from "../../src/scheduler/index.js";
import { type Note, noteTool, recorder, text, turn } from "./fixtures.js";

type Ending = "answer" | "error" | "throw" | "garbage" | "terminate";

interface Plan {
  /** Which environment's tool: undefined is a tool bound to none. */
  readonly environment: "A" | "B" | undefined;
  readonly sequential: boolean;
  /** A file it writes, if any. */
  readonly file: "x" | "y" | undefined;
  readonly turns: number;
  readonly ending: Ending;
  readonly flaw: "none" | "unknown tool" | "bad arguments" | "same id" | "blocked" | "hook throws" | "withheld";
}

const plan: fc.Arbitrary<Plan> = fc.record({
  environment: fc.constantFrom("A", "B", undefined),
  sequential: fc.nat(4).map((number) => number === 0),
  file: fc.option(fc.constantFrom("x", "y"), { nil: undefined }),
  turns: fc.nat(4),
  ending: fc.constantFrom<Ending>("answer", "answer", "error", "throw", "garbage", "terminate"),
  flaw: fc.constantFrom("none", "none", "none", "none", "unknown tool", "bad arguments", "same id", "blocked", "hook throws", "withheld"),
});

const batch = fc.record({
  plans: fc.array(plan, { maxLength: 10 }),
  oneByOne: fc.boolean(),
  concurrency: fc.constantFrom(1, 2, undefined),
  abortAfter: fc.option(fc.nat(25), { nil: undefined }),
});

/** One step of one call, as it happened. */
interface Step {
  readonly index: number;
  readonly what: "check" | "run" | "done" | "review";
}

function play({ plans, oneByOne, concurrency, abortAfter }: typeof batch extends fc.Arbitrary<infer Value> ? Value : never) {
  const steps: Step[] = [];
  const record = recorder();
  const note = (index: number, what: Step["what"]) => steps.push({ index, what });
  const tools = new Map<string, AgentTool<Note>>();
  const calls = plans.map(({ environment, sequential, file, turns, ending, flaw }, index) => {
    const name = flaw === "unknown tool" ? "missing" : `tool-${environment ?? "free"}-${sequential}-${index}`;
    const run: AgentTool<Note>["execute"] = async (_, { onUpdate }) => {
      note(index, "run");
      onUpdate(text(`update of ${index}`));
      for (let count = 0; count < turns; count += 1) await turn();
      note(index, "done");
      if (ending === "throw") throw new GloveboxError("no_space", "full");
      if (ending === "garbage") return 7 as never;
      return text(`result of ${index}`, { isError: ending === "error", ...(ending === "terminate" && { terminate: true }) });
    };
    tools.set(
      name,
      noteTool(name, {
        ...(environment !== undefined && { environmentId: environment }),
        ...(sequential && { executionMode: "sequential" }),
        execute: (parameters, options) =>
          file === undefined
            ? run(parameters, options)
            : withMutationKeys([`${environment}:/${file}`], () => run(parameters, options), options),
      }),
    );
    return {
      id: flaw === "same id" ? "same" : `${index}`,
      name,
      arguments: flaw === "bad arguments" ? { stray: index } : { count: index + 1 },
    };
  });
  tools.delete("missing");
  const scheduler = createScheduler({
    tools: [...tools.values()],
    toolExecution: oneByOne ? "sequential" : "parallel",
    ...(concurrency !== undefined && { concurrency }),
    onEvent: record.onEvent,
    async beforeToolCall({ arguments: args }) {
      const index = ((args as Note).count ?? 0) - 1;
      note(index, "check");
      await turn();
      if (plans[index]?.flaw === "hook throws") throw new Error("broken hook");
      if (plans[index]?.flaw === "blocked") return { block: true };
      return undefined;
    },
    async afterToolCall({ arguments: args }) {
      const index = ((args as Note).count ?? 0) - 1;
      await turn();
      note(index, "review");
      if (plans[index]?.flaw === "withheld") throw new Error("cannot redact");
    },
  });
  const controller = new AbortController();
  const running = scheduler.runBatch(calls, { signal: controller.signal });
  const abort = async () => {
    if (abortAfter === undefined) return;
    for (let count = 0; count < abortAfter; count += 1) await turn();
    controller.abort();
  };
  return { calls, steps, record, finished: Promise.all([running, abort()]).then(([result]) => result) };
}

describe("any batch", () => {
  it("has one result per call in source order, and events that add up", async () => {
    await fc.assert(
      fc.asyncProperty(batch, async (given) => {
        const { calls, record, finished } = play(given);
        const { results, terminate } = await finished;
        expect(results.map(({ id, name }) => [id, name])).toEqual(calls.map(({ id, name }) => [id, name]));
        expect(terminate).toBe(results.length > 0 && results.every((result) => result.terminate === true));
        for (const [index, { isError, content }] of results.entries()) {
          const { ending, flaw } = given.plans[index] as Plan;
          const aborted = given.abortAfter !== undefined;
          const sames = calls.filter(({ id }) => id === "same").length;
          const clean = (flaw === "none" || (flaw === "same id" && sames === 1)) && (ending === "answer" || ending === "terminate");
          if (!aborted) expect(isError).toBe(!clean);
          if (!isError) expect(content).toEqual([{ type: "text", text: `result of ${index}` }]);
          if (flaw === "withheld") expect(JSON.stringify(content)).not.toContain("result of");
        }
        const of = (type: string) => record.events.filter((event) => event.type === type) as { id: string; name: string }[];
        const names = calls.map(({ name }) => name);
        expect(of("tool_result").map(({ name }) => name)).toEqual(names);
        expect(
          of("tool_execution_start")
            .map(({ name }) => name)
            .sort(),
        ).toEqual([...names].sort());
        expect(
          of("tool_execution_end")
            .map(({ name }) => name)
            .sort(),
        ).toEqual([...names].sort());
        for (const name of new Set(names.filter((each) => each !== "missing"))) {
          const own = record.events
            .filter((event) => "name" in event && event.name === name && event.type !== "hook_failed")
            .map(({ type }) => type);
          expect(own.filter((type) => type !== "tool_execution_update")).toEqual([
            "tool_execution_start",
            "tool_execution_end",
            "tool_result",
          ]);
          if (own.includes("tool_execution_update")) expect(own[1]).toBe("tool_execution_update");
        }
        expect(record.events.at(0)?.type).toBe("batch_start");
        expect(record.events.at(-1)).toMatchObject({ type: "batch_end", results: calls.length });
        expect(mutationKeysInUse()).toBe(0);
      }),
      { numRuns: 200 },
    );
  });

  it("checks one call at a time, never overlaps in a vetoed group, on one file or beyond the limit", async () => {
    await fc.assert(
      fc.asyncProperty(batch, async (given) => {
        const { steps, calls, finished } = play(given);
        await finished;
        const resolvable = given.plans.map(({ flaw }, index) => {
          const twice = calls.filter(({ id }) => id === calls[index]?.id).length > 1;
          return flaw !== "unknown tool" && !twice;
        });
        const vetoes = given.plans.filter(({ sequential }, index) => sequential && resolvable[index]).map(({ environment }) => environment);
        const all = given.oneByOne || vetoes.includes(undefined);
        const vetoed = (index: number) => all || vetoes.includes(given.plans[index]?.environment);
        const groupOf = (index: number) => (all ? "all" : given.plans[index]?.environment);
        const running = new Set<number>();
        for (const [place, { index, what }] of steps.entries()) {
          const { environment, file } = given.plans[index] as Plan;
          if (what === "run") {
            for (const other of running) {
              const otherPlan = given.plans[other] as Plan;
              if (vetoed(index)) expect(groupOf(other)).not.toBe(groupOf(index));
              if (file !== undefined) expect([otherPlan.environment, otherPlan.file]).not.toEqual([environment, file]);
            }
            running.add(index);
            const beside = [...running].filter((other) => given.plans[other]?.environment === environment);
            if (environment !== undefined && given.concurrency !== undefined) expect(beside.length).toBeLessThanOrEqual(given.concurrency);
          }
          if (what === "done") running.delete(index);
          if (what !== "check") continue;
          // In a vetoed group nobody is checked before all earlier ones were reviewed; elsewhere source order holds.
          for (const later of steps.slice(place + 1)) {
            if (groupOf(later.index) !== groupOf(index) || vetoed(index) !== vetoed(later.index)) continue;
            if (later.what === "check" || vetoed(index)) expect(later.index).toBeGreaterThanOrEqual(index);
          }
        }
      }),
      { numRuns: 200 },
    );
  });
});
