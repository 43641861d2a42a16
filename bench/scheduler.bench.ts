import { Bench } from "tinybench";
import { Type } from "../src/contract/schema.js";
import { type AgentTool, bindTool, defineTool, type ExecuteOptions, type ToolCall, type ToolResult } from "../src/contract/tool.js";
import { createScheduler } from "../src/scheduler/index.js";
import type { Table } from "./table.js";

export const name = "scheduler";

const PARALLEL_CALLS = 64;
const SLOW_CALL_MS = 20;

/** What the scheduler adds to a call that does nothing, and what running calls together saves. */
export async function run(): Promise<Table> {
  const noop = boundTool("noop", () => undefined, []);
  const writer = boundTool("writer", () => undefined, ["/file"]);
  const slow = boundTool("slow", () => new Promise((resolve) => setTimeout(resolve, SLOW_CALL_MS)), []);
  const plain = createScheduler({ tools: [noop, writer, slow] });
  const hooked = createScheduler({
    tools: [noop],
    beforeToolCall: () => undefined,
    afterToolCall: () => undefined,
    onEvent: () => undefined,
  });
  const oneByOne = createScheduler({ tools: [slow], toolExecution: "sequential" });
  const options: ExecuteOptions = { id: "1", signal: new AbortController().signal, onUpdate: () => undefined };

  const bench = new Bench({ time: 500, warmupTime: 200 })
    .add("tool alone, no scheduler", async () => {
      await noop.execute({ path: "/file" }, options);
    })
    .add("1 call", async () => {
      await plain.runBatch(calls("noop", 1));
    })
    .add("1 call, two hooks, one listener", async () => {
      await hooked.runBatch(calls("noop", 1));
    })
    .add("1 call, mutation queue", async () => {
      await plain.runBatch(calls("writer", 1));
    });
  await bench.run();
  const perBatch = new Bench({ time: 500, warmupTime: 200 })
    .add(`${PARALLEL_CALLS} calls together`, async () => {
      await plain.runBatch(calls("noop", PARALLEL_CALLS));
    })
    .add(`${PARALLEL_CALLS} calls, one file`, async () => {
      await plain.runBatch(calls("writer", PARALLEL_CALLS));
    });
  await perBatch.run();

  const together = await timed(() => plain.runBatch(calls("slow", PARALLEL_CALLS)));
  const inTurn = await timed(() => oneByOne.runBatch(calls("slow", PARALLEL_CALLS)));
  return {
    title: "Scheduler: overhead per call that does nothing (goal: under 0.2 ms), and 64 calls of 20 ms",
    columns: ["what", "median", "p99"],
    rows: [
      ...bench.tasks.map((task) => latencyRow(task, 1)),
      ...perBatch.tasks.map((task) => latencyRow(task, PARALLEL_CALLS)),
      [`${PARALLEL_CALLS} calls of ${SLOW_CALL_MS} ms together, whole batch`, milliseconds(together, 0), ""],
      [`${PARALLEL_CALLS} calls of ${SLOW_CALL_MS} ms one by one, whole batch`, milliseconds(inTurn, 0), ""],
    ],
  };
}

function boundTool(toolName: string, act: () => unknown, writes: readonly string[]): AgentTool<{ path: string }> {
  const definition = defineTool({
    name: toolName,
    label: toolName,
    description: "Does what the benchmark asks.",
    effect: "read",
    parameters: Type.Object({ path: Type.String() }, { additionalProperties: false }),
    promptSnippet: "does nothing",
    promptGuidelines: [],
    writes: () => writes,
    async run(): Promise<ToolResult> {
      await act();
      return { content: [{ type: "text", text: "done" }], isError: false };
    },
  });
  return bindTool(definition, { id: "bench", cwd: "/" });
}

function calls(toolName: string, count: number): ToolCall[] {
  return Array.from({ length: count }, (_, index) => ({ id: `${index}`, name: toolName, arguments: { path: "/file" } }));
}

function latencyRow({ name: taskName, result }: Bench["tasks"][number], callsPerRun: number): readonly string[] {
  if (!("latency" in result)) throw new Error(`${taskName} did not run: ${result.state}`);
  const each = callsPerRun === 1 ? "" : ", each";
  return [`${taskName}${each}`, milliseconds(result.latency.p50 / callsPerRun, 3), milliseconds(result.latency.p99 / callsPerRun, 3)];
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

function milliseconds(value: number, digits: number): string {
  return `${value.toFixed(digits)} ms`;
}
