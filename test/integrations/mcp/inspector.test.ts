import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { INSTALL_MS } from "../../support/on-demand.js";
import { type CommandResult, runCommand } from "../../support/run-command.js";
import { builtCli } from "./built-cli.js";
import { closeAll, whenDone } from "./fixtures.js";
import { findJudges, type Judges } from "./judges.js";
import { PROCESS_TOKEN, startHttp } from "./mcp-process.js";

afterEach(closeAll);

/** Where the server is, in the Inspector's words. */
async function server(wire: "stdio" | "http"): Promise<readonly string[]> {
  const directory = await mkdtemp(join(tmpdir(), "glovebox-inspector-"));
  whenDone(() => rm(directory, { recursive: true, force: true }));
  await writeFile(join(directory, "a.txt"), "hello\n");
  if (wire === "stdio") return [process.execPath, await builtCli(), "mcp", "-t", `local:${directory}`];
  const { url } = await startHttp(["-t", `local:${directory}`]);
  return [url, "--header", `Authorization: Bearer ${PROCESS_TOKEN}`];
}

/** Runs the Inspector against the server; it keeps its notes in a home of its own. */
async function inspectorOf(judges: Judges, where: readonly string[], era: "modern" | "legacy") {
  const home = await mkdtemp(join(tmpdir(), "glovebox-inspector-home-"));
  whenDone(() => rm(home, { recursive: true, force: true }));
  const words = [judges.inspector, "--cli", ...where, "--protocol-era", era, "--format", "json", "-q"];
  return async (...more: string[]): Promise<CommandResult> =>
    await runCommand(judges.node, [...words, ...more], { allowFailure: true, env: { HOME: home } });
}

const READ = ["--method", "tools/call", "--tool-name", "read", "--tool-args-json"];

const WAYS = [
  { wire: "stdio", era: "modern" },
  { wire: "http", era: "legacy" },
] as const;

describe.each(WAYS)("the MCP Inspector over $wire, of the $era era", ({ wire, era }) => {
  it("finds schemas that any client can take, tells errors from results, and puts up a load", { timeout: INSTALL_MS }, async ({ skip }) => {
    const inspect = await inspectorOf(await findJudges(skip), await server(wire), era);
    const list = await inspect("--method", "tools/list", "--strict");
    expect([list.exitCode, list.stderr]).toEqual([0, expect.not.stringMatching(/^Error/m)]);
    const { result } = JSON.parse(list.stdout) as { result: { tools: { name: string }[] } };
    expect(result.tools.map(({ name }) => name)).toEqual(["read", "bash", "edit", "write", "grep", "find", "ls"]);

    const good = await inspect(...READ, '{"path":"a.txt"}');
    expect([good.exitCode, JSON.parse(good.stdout)]).toMatchObject([
      0,
      { result: { content: [{ text: "hello" }], structuredContent: { bytes: 6 } } },
    ]);
    const bad = await inspect(...READ, '{"path":"b.txt"}');
    expect([bad.exitCode, JSON.parse(bad.stdout)]).toMatchObject([5, { result: { isError: true } }]);

    const load = await inspect(...READ, '{"path":"a.txt"}', "--load", "--load-requests", "200", "--load-concurrency", "10");
    expect([load.exitCode, JSON.parse(load.stdout)]).toMatchObject([0, { result: { requests: 200, ok: 200, toolErrors: 0, errors: 0 } }]);
  });
});
