import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Type } from "../../src/contract/schema.js";
import { type AgentTool, bindTool, defineTool, type ExecuteOptions, lexicalPath, withFileMutationQueue } from "../../src/contract/tool.js";

const options = (extra: Partial<ExecuteOptions> = {}): ExecuteOptions => ({
  id: "1",
  signal: new AbortController().signal,
  onUpdate: () => undefined,
  ...extra,
});

interface Store {
  put(path: string, text: string): Promise<void>;
}

const put = defineTool({
  name: "put",
  label: "put",
  description: "Puts text into files.",
  effect: "write",
  parameters: Type.Object({ paths: Type.Array(Type.String()), text: Type.String() }, { additionalProperties: false }),
  promptSnippet: "puts",
  promptGuidelines: [],
  writes: ({ paths }) => paths,
  async run({ paths, text }, { operations, place }: { operations: Store; place: { id: string; cwd: string } }) {
    for (const path of paths) await operations.put(path, text);
    return { content: [{ type: "text" as const, text: `${place.id} ${place.cwd}` }], isError: false };
  },
});

/** Operations that note which puts overlap. */
function store() {
  const log: string[] = [];
  return {
    log,
    async put(path: string, text: string) {
      log.push(`${path} ${text} begins`);
      await turn();
      log.push(`${path} ${text} ends`);
    },
  };
}

const run = (tool: AgentTool<{ paths: string[]; text: string }>, paths: string[], text: string, extra?: Partial<ExecuteOptions>) =>
  tool.execute({ paths, text }, options(extra));

describe("bindTool", () => {
  it("needs no more than the operations; where they act is told to the tool", async () => {
    const bare = bindTool(put, store());
    expect(bare.environmentId).toBeUndefined();
    expect((await run(bare, ["a"], "x")).content).toEqual([{ type: "text", text: expect.stringMatching(/^injected:\d+ \/$/) }]);
    const placed = bindTool(put, { ...store(), id: "box", cwd: "/work" });
    expect(placed).toMatchObject({ name: "put", effect: "write", environmentId: "box", promptSnippet: "puts" });
    expect((await run(placed, ["a"], "x")).content).toEqual([{ type: "text", text: "box /work" }]);
  });

  it("shows its parameters as JSON Schema and validates by them", () => {
    const tool = bindTool(put, store());
    expect(JSON.parse(JSON.stringify(tool.parameters))).toEqual({
      additionalProperties: false,
      type: "object",
      required: ["paths", "text"],
      properties: { paths: { type: "array", items: { type: "string" } }, text: { type: "string" } },
    });
    expect(tool.validate({ paths: [] })).toMatchObject({ ok: false, issues: [{ field: "text" }] });
  });

  it("Q01 runs alone among the writers of a file, by every lexical name, from two wrappings and two tools", async () => {
    const { log, ...operations } = store();
    const one = bindTool(put, { ...operations, id: "box", cwd: "/work" });
    const other = bindTool(put, { ...operations, id: "box", cwd: "/" });
    const queued: string[] = [];
    await Promise.all([
      run(one, ["x"], "1"),
      run(other, ["./work//sub/../x"], "2", { onQueued: (key, waiting) => queued.push(`${key} ${waiting}`) }),
      run(one, ["y"], "3"),
    ]);
    expect(log).toEqual(["x 1 begins", "y 3 begins", "x 1 ends", "./work//sub/../x 2 begins", "y 3 ends", "./work//sub/../x 2 ends"]);
    expect(queued).toEqual(["box:/work/x 1"]);
  });

  it("asks the environment for the key where it knows better", async () => {
    const { log, put: write } = store();
    const environment = { put: write, id: "box", cwd: "/", mutationKey: (path: string) => `box:${path.replace("alias", "real")}` };
    const tool = bindTool(put, environment);
    await Promise.all([run(tool, ["/alias/n"], "1"), run(tool, ["/real/n"], "2")]);
    expect(log.map((line) => line.split(" ").slice(1).join(" "))).toEqual(["1 begins", "1 ends", "2 begins", "2 ends"]);
  });

  it("does not make equal paths of different environments wait for each other", async () => {
    const { log, ...operations } = store();
    const tools = [1, 2].map((number) => bindTool(put, { ...operations, id: `box${number}`, cwd: "/" }));
    await Promise.all(tools.map((tool, index) => run(tool, ["/same"], `${index}`)));
    expect(log).toEqual(["/same 0 begins", "/same 1 begins", "/same 0 ends", "/same 1 ends"]);
  });

  it("never starts a call whose signal fires while it waits", async () => {
    const { log, ...operations } = store();
    const tool = bindTool(put, { ...operations, id: "box" });
    const controller = new AbortController();
    const first = run(tool, ["/x"], "1");
    const second = run(tool, ["/x"], "2", { signal: controller.signal });
    controller.abort();
    await expect(second).rejects.toMatchObject({ code: "aborted" });
    await first;
    expect(log).toEqual(["/x 1 begins", "/x 1 ends"]);
  });
});

describe("withFileMutationQueue", () => {
  it("keeps a custom tool's read, change and write together, beside the bound tools", async () => {
    const { log, ...operations } = store();
    const environment = { ...operations, id: "box", cwd: "/work" };
    const tool = bindTool(put, environment);
    await Promise.all([
      withFileMutationQueue(environment, "x", async () => {
        await environment.put("x", "custom one");
        await environment.put("x", "custom two");
      }),
      run(tool, ["/work/x"], "bound"),
    ]);
    expect(log.map((line) => line.replace(/ (begins|ends)$/, "")).filter((line, index, all) => line !== all[index - 1])).toEqual([
      "x custom one",
      "x custom two",
      "/work/x bound",
    ]);
  });

  it("is re-entrant, and takes several paths without a deadlock", async () => {
    const environment = { id: "box", cwd: "/" };
    const swap = (one: string, other: string) =>
      withFileMutationQueue(environment, [one, other], () => withFileMutationQueue(environment, one, async () => `${one}${other}`));
    const swaps = Array.from({ length: 500 }, (_, index) => swap(`f${index % 4}`, `f${(index * 3) % 5}`));
    expect(await Promise.all(swaps)).toHaveLength(500);
  });
});

describe("lexicalPath", () => {
  it.each([
    ["/work", "a", "/work/a"],
    ["/work", "/a", "/a"],
    ["/work", ".", "/work"],
    ["/work", "../a", "/a"],
    ["/work", "../../../a", "/a"],
    ["/", "a//b/./c/", "/a/b/c"],
    ["/work", "...", "/work/..."],
    ["/work", "a\\..\\b", "/work/a\\..\\b"],
    ["/work", "e\u0301", "/work/e\u0301"],
  ])("from %s, %s is %s", (cwd, path, expected) => expect(lexicalPath(cwd, path)).toBe(expected));

  it("is absolute, free of dots and empty parts, and its own fixed point", () => {
    const path = fc.array(fc.constantFrom("a", "b", "..", ".", "", "c d"), { maxLength: 12 }).map((parts) => parts.join("/"));
    fc.assert(
      fc.property(path, (given) => {
        const found = lexicalPath("/work", given);
        expect(found).toMatch(/^\/(?:[^/]+(?:\/[^/]+)*)?$/);
        expect(found.split("/").some((part) => part === "." || part === "..")).toBe(false);
        expect(lexicalPath("/elsewhere", found)).toBe(found);
      }),
    );
  });
});
