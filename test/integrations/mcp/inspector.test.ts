import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { type CommandResult, runCommand } from "../../support/run-command.js";
import { builtCli } from "./built-cli.js";
import { closeAll, whenDone } from "./fixtures.js";
import { ensureJudges, type Judges } from "./judges.js";
import { PROCESS_TOKEN, startHttp } from "./mcp-process.js";

let judges: Judges;
beforeAll(async () => {
  judges = await ensureJudges();
});
afterEach(closeAll);

const QUIET = ["--format", "json", "-q"];

/** Where the server is, in the Inspector's words. */
async function server(wire: "stdio" | "http"): Promise<readonly string[]> {
  const directory = await mkdtemp(join(tmpdir(), "glovebox-inspector-"));
  whenDone(() => rm(directory, { recursive: true, force: true }));
  await writeFile(join(directory, "a.txt"), "hello\n");
  if (wire === "stdio") return [process.execPath, await builtCli(), "mcp", "-t", `local:${directory}`];
  const { url } = await startHttp(["-t", `local:${directory}`]);
  return [url, "--header", `Authorization: Bearer ${PROCESS_TOKEN}`];
}

async function inspect(where: readonly string[], ...words: string[]): Promise<CommandResult> {
  const home = await mkdtemp(join(tmpdir(), "glovebox-inspector-home-"));
  whenDone(() => rm(home, { recursive: true, force: true }));
  return await runCommand(judges.node, [judges.inspector, "--cli", ...where, ...words, ...QUIET], {
    allowFailure: true,
    env: { HOME: home },
  });
}

describe.each(["stdio", "http"] as const)("the MCP Inspector over %s", (wire) => {
  it("lists tools whose schemas any client can take", async () => {
    const where = await server(wire);
    for (const era of ["modern", "legacy"]) {
      const { exitCode, stdout, stderr } = await inspect(where, "--method", "tools/list", "--strict", "--protocol-era", era);
      expect([exitCode, stderr]).toEqual([0, expect.not.stringMatching(/^Error/m)]);
      const { result } = JSON.parse(stdout) as { result: { tools: { name: string }[] } };
      expect(result.tools.map(({ name }) => name)).toEqual(["read", "bash", "edit", "write", "grep", "find", "ls"]);
    }
  });

  it("calls tools, and tells an error from a result", async () => {
    const where = await server(wire);
    const call = (args: object) =>
      inspect(where, "--method", "tools/call", "--tool-name", "read", "--tool-args-json", JSON.stringify(args));
    const [good, bad] = [await call({ path: "a.txt" }), await call({ path: "b.txt" })];
    expect([good.exitCode, JSON.parse(good.stdout)]).toMatchObject([
      0,
      { result: { content: [{ text: "hello" }], structuredContent: { bytes: 6 } } },
    ]);
    expect([bad.exitCode, JSON.parse(bad.stdout)]).toMatchObject([5, { result: { isError: true } }]);
  });

  it("calls a tool 200 times, ten at a time, without an error", async () => {
    const call = ["--method", "tools/call", "--tool-name", "read", "--tool-args-json", '{"path":"a.txt"}'];
    const { exitCode, stdout } = await inspect(await server(wire), ...call, "--load", "--load-requests", "200", "--load-concurrency", "10");
    expect([exitCode, JSON.parse(stdout)]).toMatchObject([0, { result: { requests: 200, ok: 200, toolErrors: 0, errors: 0 } }]);
  });
});
