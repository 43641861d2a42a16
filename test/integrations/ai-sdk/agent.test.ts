import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { INSTALL_MS } from "../../support/on-demand.js";
import { hostPackages, runWorker } from "../hosts.js";
import { PIXEL } from "../pixel.js";

const result = (id: string, toolName: string, output: object) => ({ type: "tool-result", toolCallId: id, toolName, output });
const told = [
  result("1", "read", { type: "text", value: "one" }),
  result("2", "edit", { type: "text", value: expect.stringContaining("a.txt") }),
  result("3", "read", { type: "error-text", value: expect.stringContaining("missing.txt") }),
  result("4", "read", {
    type: "content",
    value: [
      { type: "text", text: expect.stringContaining("pixel.png") },
      { type: "file", mediaType: "image/png", data: { type: "data", data: PIXEL } },
    ],
  }),
  result("5", "read", { type: "error-text", value: expect.stringContaining("path: expected a string") }),
];

describe("the AI SDK itself, with a scripted model", () => {
  it("offers our tools, runs a step as one batch and tells the model each result", { timeout: INSTALL_MS }, async ({ skip }) => {
    const packages = await hostPackages(skip);
    const directory = await realpath(await mkdtemp(join(tmpdir(), "glovebox-harness-")));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    const answer = await runWorker(new URL("agent.worker.ts", import.meta.url), { packages, directory });
    expect(answer).toMatchObject({
      generated: {
        text: "done",
        batches: [5],
        offered: [
          { type: "function", name: "read", inputSchema: { type: "object", required: ["path"], additionalProperties: false } },
          {},
          {},
          {},
          {},
          {},
        ],
        told,
        file: "two\n",
      },
      streamed: { text: "done", batches: [5], told },
      seen: [{ type: "tool-result", toolName: "look", output: { type: "text", value: "one\n" } }],
      prepared: { same: true, said: `hello from ${directory}/bridge\n` },
    });
  });
});
