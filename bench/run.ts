import type { BenchModule, Table } from "./table.js";

/*
 * `npm run bench [-- NAME…]`: every figure comes from one run, beside its rivals. Ratios carry over to other machines,
 * milliseconds do not. `--markdown` prints tables for docs/benchmarks.md.
 */
const modules: readonly (() => Promise<BenchModule>)[] = [
  () => import("./scheduler.bench.js"),
  () => import("./local.bench.js"),
  () => import("./docker.bench.js"),
  () => import("./docker-lifecycle.bench.js"),
  () => import("./ssh.bench.js"),
  () => import("./ssh-throughput.bench.js"),
  () => import("./mcp.bench.js"),
  () => import("./fleet.bench.js"),
];

const words = process.argv.slice(2);
const markdown = words.includes("--markdown");
const wanted = words.filter((word) => !word.startsWith("--"));

for (const load of modules) {
  const { name, run } = await load();
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const table = await run();
  console.log(markdown ? asMarkdown(table) : asText(table));
}

function asText({ title, columns, rows }: Table): string {
  const all = [columns, ...rows];
  const widths = columns.map((_, index) => Math.max(...all.map((row) => (row[index] ?? "").length)));
  const lines = all.map((row) =>
    row.map((cell, index) => (index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0))).join("  "),
  );
  return `\n${title}\n${lines.map((line) => `  ${line.trimEnd()}`).join("\n")}`;
}

function asMarkdown({ title, columns, rows }: Table): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return `\n**${title}**\n\n${[line(columns), line(columns.map((_, index) => (index === 0 ? "---" : "---:"))), ...rows.map(line)].join("\n")}`;
}
