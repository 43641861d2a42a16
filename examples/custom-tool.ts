/*
 * A tool of one's own: `log_entry` adds a line to today's log, whose name an index file tells. Which file it writes is known
 * only when it runs, so it takes that file's turn itself; a tool that knows from its parameters says `writes` instead.
 */
import assert from "node:assert/strict";
import {
  bindTool,
  createScheduler,
  createTools,
  defineTool,
  type Environment,
  openEnvironment,
  Type,
  textResult,
  withFileMutationQueue,
} from "glovebox";
import { memory } from "glovebox/memory";

const parameters = Type.Object(
  { line: Type.String({ minLength: 1, description: "What to write into the log, one line" }) },
  { additionalProperties: false },
);

const logEntry = defineTool<typeof parameters, { path: string; lines: number }, Environment>({
  name: "log_entry",
  label: "Write into the log",
  description: "Add one line to the current log file.",
  parameters,
  effect: "write",
  promptSnippet: "Add a line to the log",
  promptGuidelines: ["Use log_entry for what the next person has to know."],
  async run({ line }, { operations, signal }) {
    const index = await operations.readFile("logs/current", { signal });
    const path = `logs/${Buffer.from(index.data).toString().trim()}`;
    const work = async (): Promise<number> => {
      const { data } = await operations.readFile(path, { signal });
      const text = `${Buffer.from(data).toString()}${line}\n`;
      await operations.writeFile(path, Buffer.from(text), { signal });
      return text.split("\n").length - 1;
    };
    // Read, change and write is one step among all writers of that file: other calls, other schedulers, our own edit tool.
    const lines = await withFileMutationQueue(operations, path, work, { signal });
    return textResult(`Line ${lines} of ${path}.`, { path, lines });
  },
});

await using environment = await openEnvironment(memory({ files: { "logs/current": "monday.log\n", "logs/monday.log": "start\n" } }));
const scheduler = createScheduler({ tools: [...createTools(environment, { names: ["edit"] }), bindTool(logEntry, environment)] });

const entries = Array.from({ length: 50 }, (_, index) => ({
  id: `entry-${index}`,
  name: "log_entry",
  arguments: { line: `entry ${index}` },
}));
const edit = { id: "edit", name: "edit", arguments: { path: "logs/monday.log", edits: [{ oldText: "start", newText: "begin" }] } };
const { results } = await scheduler.runBatch([
  ...entries.slice(0, 25),
  edit,
  ...entries.slice(25),
  { id: "bad", name: "log_entry", arguments: {} },
]);

const log = String(environment.snapshot()["logs/monday.log"]);
console.log(log.split("\n").slice(0, 3).join("\n"), `\n... ${log.split("\n").length - 1} lines`);
console.log(results.at(-1)?.content);
assert.equal(results.filter(({ isError }) => isError).length, 1);
assert.deepEqual(log.trimEnd().split("\n").sort(), ["begin", ...entries.map(({ arguments: { line } }) => line)].sort());
