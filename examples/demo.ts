/*
 * The main job: a model's batch of tool calls, shown as it runs, first in memory, then on a real directory.
 * The same tools and the same calls; only the target differs.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createScheduler, createTools, type Environment, openEnvironment, type ToolCall } from "glovebox";
import { local } from "glovebox/local";
import { memory } from "glovebox/memory";

const files: Record<string, string> = {
  "README.md": "# Orders\n\nCounts orders.\n",
  "src/orders.ts": "export const currency = 'EUR';\nexport function total(prices: number[]) {\n  return prices.length;\n}\n",
  "test.sh": "grep -q reduce src/orders.ts || { echo 'total() counts instead of adding'; exit 1; }\n",
};

/** What a model might propose in one turn. */
const batch: readonly ToolCall[] = [
  { id: "1", name: "read", arguments: { path: "README.md" } },
  { id: "2", name: "grep", arguments: { pattern: "export", path: "src" } },
  { id: "3", name: "bash", arguments: { command: "sh test.sh" } },
  { id: "4", name: "edit", arguments: { path: "src/orders.ts", edits: [{ oldText: "'EUR'", newText: "'USD'" }] } },
  {
    id: "5",
    name: "edit",
    arguments: {
      path: "./src/../src/orders.ts",
      edits: [{ oldText: "prices.length", newText: "prices.reduce((sum, price) => sum + price, 0)" }],
    },
  },
  { id: "6", name: "bash", arguments: { command: "rm -rf /" } },
];

async function run(environment: Environment): Promise<void> {
  console.log(`\n=== ${environment.label} ===`);
  const scheduler = createScheduler({
    tools: createTools(environment, { names: ["read", "grep", "bash", "edit"] }),
    // The owner's veto: this call never starts, the others go on.
    beforeToolCall: ({ arguments: given }) =>
      /\brm\b/.test((given as { command?: string }).command ?? "")
        ? { block: true, reason: "Removing things is not allowed here." }
        : undefined,
    onEvent(event) {
      if (event.type === "tool_execution_start") console.log(`  > ${event.id} ${event.name} ${JSON.stringify(event.arguments)}`);
      if (event.type === "mutation_queued") console.log(`    (waits for its turn to write ${event.key.replace(/^.*:/, "")})`);
      if (event.type === "tool_execution_end")
        console.log(`  < ${event.id} ${event.isError ? "error" : "done"} in ${event.durationMs.toFixed(1)} ms`);
    },
  });
  const { results } = await scheduler.runBatch(batch);
  for (const { id, name, isError, content } of results) {
    const text = content.map((part) => (part.type === "text" ? part.text : `[${part.mimeType}]`)).join("\n");
    console.log(`\n  [${id}] ${name}${isError ? " (error)" : ""}\n${text.replace(/^/gm, "      ")}`);
  }
  const { data } = await environment.readFile("src/orders.ts");
  console.log(`\n  src/orders.ts now, both edits in it:\n${Buffer.from(data).toString().trimEnd().replace(/^/gm, "      ")}`);
}

{
  const failing = { "sh test.sh": { stdout: "total() counts instead of adding\n", exitCode: 1 } };
  await using environment = await openEnvironment(memory({ files, exec: failing }));
  await run(environment);
}

const directory = await mkdtemp(join(tmpdir(), "glovebox-demo-"));
try {
  await using environment = await openEnvironment(local(directory));
  for (const [path, text] of Object.entries(files)) await environment.writeFile(path, Buffer.from(text));
  await run(environment);
} finally {
  await rm(directory, { recursive: true });
}
