import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { memory } from "../../adapters/memory/index.js";
import { openEnvironment } from "../../src/environment.js";
import { createScheduler } from "../../src/scheduler/index.js";
import { createTools } from "../../src/tools/index.js";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

it("Q02 two edits allowed on one version: the second fails with conflict and never overwrites", async () => {
  await using environment = await openEnvironment(memory({ files: { a: "one\ntwo\n" } }));
  const allowedOn = sha256("one\ntwo\n");
  const scheduler = createScheduler({ tools: createTools(environment), beforeToolCall: () => ({ ifMatch: allowedOn }) });
  const { results } = await scheduler.runBatch([
    { id: "1", name: "edit", arguments: { path: "a", edits: [{ oldText: "one", newText: "1" }] } },
    { id: "2", name: "edit", arguments: { path: "./a", edits: [{ oldText: "two", newText: "2" }] } },
  ]);
  expect(results.map(({ isError }) => isError)).toEqual([false, true]);
  expect(results[1]?.details).toMatchObject({ error: { code: "conflict", details: { expectedSha256: allowedOn } } });
  expect(environment.snapshot()).toMatchObject({ a: "1\ntwo\n" });
});

it("Q02 a write allowed for a missing file does not replace one that came in between", async () => {
  await using environment = await openEnvironment(memory({ files: { a: "there" } }));
  const scheduler = createScheduler({ tools: createTools(environment), beforeToolCall: () => ({ ifMatch: null }) });
  const { results } = await scheduler.runBatch([{ id: "1", name: "write", arguments: { path: "a", content: "new" } }]);
  expect(results[0]).toMatchObject({ isError: true, details: { error: { code: "conflict" } } });
  expect(environment.snapshot()).toMatchObject({ a: "there" });
});

it("a hash that is none blocks the call", async () => {
  await using environment = await openEnvironment(memory({ files: { a: "there" } }));
  const scheduler = createScheduler({ tools: createTools(environment), beforeToolCall: () => ({ ifMatch: "latest" }) });
  const { results } = await scheduler.runBatch([{ id: "1", name: "write", arguments: { path: "a", content: "new" } }]);
  expect(results[0]?.isError).toBe(true);
  expect(environment.snapshot()).toMatchObject({ a: "there" });
});
