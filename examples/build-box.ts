/*
 * An agent at a build machine: `node --import tsx examples/build-box.ts ssh://me@box/tmp`. Its tools act over SSH; here a
 * script stands in for the model, and does what models do: try, read the error, fix, try again.
 */
import assert from "node:assert/strict";
import { type CallResult, createScheduler, createTools, openEnvironment, parseTargetUrl, retry, type ToolCall } from "glovebox";
import { adapter } from "glovebox/ssh";

const url = process.argv[2] ?? process.env.BUILD_BOX;
if (url === undefined) throw new Error("Give the build machine as ssh://USER@HOST:PORT/DIRECTORY.");

/** The next calls, given how the last ones ended; none when there is nothing left to do. */
function model(turn: number, last: readonly CallResult[]): readonly ToolCall[] {
  const build: ToolCall = { id: `build-${turn}`, name: "bash", arguments: { command: "sh build.sh", timeout: 60 } };
  if (turn === 0) {
    const greet = "greet() {\n  echo hello $1\n}\n";
    const check =
      '. ./greet.sh\nsaid=$(greet "two words")\n[ "$said" = "hello two words!" ] || { echo "greet said: $said" >&2; exit 1; }\necho built\n';
    return [
      { id: "source", name: "write", arguments: { path: "greet.sh", content: greet } },
      { id: "script", name: "write", arguments: { path: "build.sh", content: check } },
    ];
  }
  if (turn === 1) return [build];
  const failed = last.find(({ id, isError }) => id.startsWith("build") && isError);
  if (failed === undefined) return [];
  const edits = [{ oldText: "echo hello $1", newText: 'echo "hello $1!"' }];
  return [{ id: `fix-${turn}`, name: "edit", arguments: { path: "greet.sh", edits } }, build];
}

// retry repeats reads that a lost connection cut off; a command is never run twice.
await using environment = await openEnvironment(adapter(parseTargetUrl(url)), { layers: [retry()] });
const scheduler = createScheduler({
  tools: createTools(environment).map((tool) => (tool.name === "bash" ? { ...tool, executionMode: "sequential" } : tool)),
  onEvent: (event) =>
    event.type === "tool_execution_end" && console.log(`${event.isError ? "failed" : "done  "} ${event.name} (${event.id})`),
});

const history: CallResult[] = [];
let last: readonly CallResult[] = [];
for (let turn = 0; ; turn += 1) {
  const calls = model(turn, last);
  if (calls.length === 0) break;
  last = (await scheduler.runBatch(calls)).results;
  history.push(...last);
}

for (const { name, content } of history)
  console.log(`\n${name}: ${content.map((part) => (part.type === "text" ? part.text : "")).join("")}`);
assert.deepEqual(
  history.map(({ id, isError }) => `${isError ? "failed" : "done"} ${id}`),
  ["done source", "done script", "failed build-1", "done fix-2", "done build-2"],
);
