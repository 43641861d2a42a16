import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { memory } from "../adapters/memory/index.js";
import { createScheduler, openEnvironment } from "../src/index.js";
import { mcpTools } from "../src/integrations/mcp/index.js";
import { type Latencies, latencies, runLoad } from "./mcp-load.js";
import type { Table } from "./table.js";

export const name = "mcp";

const MAIN = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
const TOKEN = "token-of-the-benchmark";
const WARMUP_CALLS = 200;
const CALLS = 1_000;
const CLIENTS = 100;
const LOAD_MS = Number(process.env.MCP_BENCH_LOAD_MS ?? 60_000);

/** What the protocol adds to one call, by wire and revision, and a hundred clients on one target. */
export async function run(): Promise<Table> {
  const direct = await measureDirect();
  const rows: string[][] = [["the scheduler alone", ...cells(direct), ""]];
  for (const revision of ["2026-07-28", "2025-11-25"]) {
    const stdio = await measureStdio(revision);
    rows.push([`stdio, ${revision} (goal: under 3 ms more)`, ...cells(stdio), more(stdio, direct)]);
  }
  const server = await startServer("memory:");
  for (const revision of ["2026-07-28", "2025-11-25"]) {
    const client = newClient(revision);
    const requestInit = { headers: { Authorization: `Bearer ${TOKEN}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit }));
    const http = await measure(client);
    rows.push([`HTTP, ${revision} (goal: under 8 ms more)`, ...cells(http), more(http, direct)]);
    await client.close();
  }
  server.child.kill();

  const directory = mkdtempSync(join(tmpdir(), "glovebox-bench-"));
  // A container's own row comes with --target in MCP_BENCH_TARGET; local is what every machine has.
  const target = process.env.MCP_BENCH_TARGET ?? `local:${directory}`;
  const loaded = await startServer(target);
  const outcome = await runLoad({ url: loaded.url, token: TOKEN, pid: loaded.child.pid ?? 0, clients: CLIENTS, durationMs: LOAD_MS });
  loaded.child.kill();
  rmSync(directory, { recursive: true });
  const seconds = outcome.durationMs / 1000;
  rows.push(
    [`${CLIENTS} clients on ${target.split(":")[0]} for ${seconds.toFixed(0)} s: a read`, ...cells(outcome.readMs), ""],
    [`the same: an edit`, ...cells(outcome.editMs), ""],
    [`the same: errors, lost edits`, String(outcome.errors.length), String(outcome.lostEdits), ""],
    [`the same: calls per second`, (outcome.calls / seconds).toFixed(0), "", ""],
    [
      `the same: memory of the server, at first and at most`,
      `${outcome.startMiB.toFixed(0)} MiB`,
      `${outcome.highestMiB.toFixed(0)} MiB`,
      "",
    ],
  );
  return { title: "MCP: one small read on memory, and many clients at once", columns: ["what", "p50", "p99", "more at p50"], rows };
}

async function measureDirect(): Promise<Latencies> {
  await using environment = await openEnvironment(memory());
  await environment.writeFile("a.txt", Buffer.from("hello\n"));
  const scheduler = createScheduler({ tools: mcpTools(environment) });
  const times: number[] = [];
  for (let count = -WARMUP_CALLS; count < CALLS; count += 1) {
    const startedMs = performance.now();
    await scheduler.runBatch([{ id: "1", name: "read", arguments: { path: "a.txt" } }]);
    if (count >= 0) times.push(performance.now() - startedMs);
  }
  return latencies(times);
}

async function measureStdio(revision: string): Promise<Latencies> {
  const client = newClient(revision);
  const args = ["--import", "tsx", MAIN, "mcp", "-t", "memory:"];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: "ignore" }));
  const found = await measure(client);
  await client.close();
  return found;
}

async function measure(client: Client): Promise<Latencies> {
  await client.callTool({ name: "write", arguments: { path: "a.txt", content: "hello\n" } });
  const times: number[] = [];
  for (let count = -WARMUP_CALLS; count < CALLS; count += 1) {
    const startedMs = performance.now();
    await client.callTool({ name: "read", arguments: { path: "a.txt" } });
    if (count >= 0) times.push(performance.now() - startedMs);
  }
  return latencies(times);
}

function newClient(revision: string): Client {
  return new Client({ name: "bench", version: "1" }, revision === "2026-07-28" ? { versionNegotiation: { mode: "auto" } } : {});
}

async function startServer(target: string): Promise<{ readonly url: string; readonly child: ChildProcess }> {
  const args = ["--import", "tsx", MAIN, "mcp", "-t", target, "--http", "0", "--bash-timeout", "100"];
  const child = spawn(process.execPath, args, { env: { ...process.env, GLOVEBOX_TOKEN: TOKEN }, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      const found = /listening on (\S+)/.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", () => reject(new Error(`the server ended: ${said}`)));
  });
  return { url, child };
}

function cells({ p50, p99 }: Latencies): readonly string[] {
  return [`${p50.toFixed(2)} ms`, `${p99.toFixed(2)} ms`];
}

function more(measured: Latencies, base: Latencies): string {
  return `${(measured.p50 - base.p50).toFixed(2)} ms`;
}
