import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { type McpServer, mcpTools } from "../../../src/integrations/mcp/index.js";
import { INSTALL_MS } from "../../support/on-demand.js";
import { runCommand } from "../../support/run-command.js";
import { startProxy } from "./authorizing-proxy.js";
import { askBefore, conformanceTools } from "./conformance-fixtures.js";
import { closeAll, ERAS, listen, openMemory, serve, TOKEN, whenDone } from "./fixtures.js";
import { findJudges } from "./judges.js";

afterEach(closeAll);

/**
 * What is expected to fail, and why, is in the baseline beside this file; whatever else fails, or passes although it is in
 * there, fails the run.
 */
const SERVERS: readonly { readonly name: string; readonly baseline: string; make(): Promise<McpServer> }[] = [
  {
    name: "the server as it is",
    baseline: "conformance-product",
    make: async () => serve({ target: { tools: mcpTools(await openMemory()) } }),
  },
  {
    name: "the suite's own tools in our registry",
    baseline: "conformance-fixtures",
    make: async () => serve({ target: { tools: conformanceTools().getActiveTools() }, beforeToolCall: askBefore }),
  },
];

describe.each(SERVERS)("the official conformance suite against $name", ({ baseline, make }) => {
  it.for(ERAS)("finds what revision %s requires", { timeout: INSTALL_MS }, async (revision, { skip }) => {
    const judges = await findJudges(skip);
    const proxy = await startProxy();
    const { port } = await listen(await make(), { allowedHosts: [proxy.host], allowedOrigins: [`http://${proxy.host}`] });
    proxy.aim(port, TOKEN);
    const results = await mkdtemp(join(tmpdir(), "glovebox-conformance-"));
    whenDone(() => rm(results, { recursive: true }));
    const expected = fileURLToPath(new URL(`${baseline}-${revision}.yml`, import.meta.url));
    const words = [
      judges.conformance,
      "server",
      "--url",
      proxy.url,
      "--requirements",
      revision,
      "--expected-failures",
      expected,
      "--output-dir",
      results,
    ];
    const { exitCode, stdout, stderr } = await runCommand(judges.node, words, { allowFailure: true });
    expect({ exitCode, said: exitCode === 0 ? "" : stdout.slice(stdout.indexOf("=== SUMMARY")) + stderr }).toEqual({
      exitCode: 0,
      said: "",
    });
  });
});
