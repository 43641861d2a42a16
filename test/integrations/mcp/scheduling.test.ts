import { afterEach, describe, expect, it } from "vitest";
import { textResult, withFileMutationQueue } from "../../../src/index.js";
import { mcpTools } from "../../../src/integrations/mcp/index.js";
import { closeAll, connectHttp, eventually, gate, listen, openMemory, serve, textOf, tool } from "./fixtures.js";

afterEach(closeAll);

describe("calls of all clients of one target", () => {
  it("run a sequential tool alone, whoever calls", async () => {
    const log: string[] = [];
    const note = (name: string, sequential: boolean) =>
      tool(
        name,
        async () => {
          log.push(`+${name}`);
          await new Promise((resolve) => setTimeout(resolve, 30));
          log.push(`-${name}`);
          return textResult(name);
        },
        sequential ? { executionMode: "sequential" } : {},
      );
    const server = serve({ target: { tools: [note("par", false), note("seq", true)] } });
    const { url } = await listen(server);
    const clients = await Promise.all(["2026-07-28" as const, "2025-11-25" as const].map((era) => connectHttp(url, era)));
    const calls = Array.from({ length: 12 }, (_, index) =>
      clients[index % 2]?.client.callTool({ name: index % 3 === 1 ? "seq" : "par", arguments: {} }),
    );
    await Promise.all(calls);
    const running = new Set<string>();
    let together = 0;
    for (const entry of log) {
      if (entry === "+seq") expect(running.size).toBe(0);
      if (entry === "+par") expect(running.has("seq")).toBe(false);
      if (entry.startsWith("+")) running.add(entry.slice(1) === "seq" ? "seq" : `par${log.indexOf(entry)}`);
      else running.clear();
      together = Math.max(together, running.size);
    }
    expect(log).toHaveLength(24);
    expect(log.join(" ")).toContain("+par +par");
  });

  it("let other targets go on while one runs alone", async () => {
    const alone = gate();
    const server = serve({
      targets: {
        web: {
          tools: [tool("seq", () => alone.opened.then(() => textResult("web")), { executionMode: "sequential", environmentId: "web" })],
        },
        box: { tools: [tool("seq", async () => textResult("box"), { executionMode: "sequential", environmentId: "box" })] },
      },
    });
    const { client } = await connectHttp((await listen(server)).url, "2026-07-28");
    const waiting = client.callTool({ name: "seq", arguments: { target: "web" } });
    expect(textOf(await client.callTool({ name: "seq", arguments: { target: "box" } }))).toBe("box");
    alone.open();
    expect(textOf(await waiting)).toBe("web");
  });

  it("take turns at a file, and lose no edit", async () => {
    const environment = await openMemory({ "count.txt": Array.from({ length: 20 }, (_, index) => `line ${index}: 0\n`).join("") });
    const server = serve({ target: { tools: mcpTools(environment) } });
    const { url } = await listen(server);
    const clients = await Promise.all(Array.from({ length: 5 }, () => connectHttp(url, "2026-07-28")));
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        clients[index % 5]?.client.callTool({
          name: "edit",
          arguments: { path: "count.txt", edits: [{ oldText: `line ${index}: 0`, newText: `line ${index}: 1` }] },
        }),
      ),
    );
    expect(results.filter((result) => result?.isError)).toEqual([]);
    const { data } = await environment.readFile("count.txt");
    expect(Buffer.from(data).toString()).toBe(Array.from({ length: 20 }, (_, index) => `line ${index}: 1\n`).join(""));
  });

  it("share the queue with whoever else writes that file in this process", async () => {
    const environment = await openMemory({ "a.txt": "one" });
    const server = serve({ target: { tools: mcpTools(environment) } });
    const { client } = await connectHttp((await listen(server)).url, "2026-07-28");
    const held = gate();
    const outside = withFileMutationQueue(environment, `${environment.cwd}/a.txt`, () => held.opened);
    const write = client.callTool({ name: "write", arguments: { path: "a.txt", content: "two" } });
    await eventually(() => server.running === 1);
    expect(Buffer.from((await environment.readFile("a.txt")).data).toString()).toBe("one");
    held.open();
    await outside;
    expect(textOf(await write)).toBe("Replaced a.txt: 3 bytes.");
  });

  it("are told no when one of them has too many running", async () => {
    const held = gate();
    const server = serve({ target: { tools: [tool("wait", () => held.opened.then(() => textResult("done")))] }, maxCallsPerCaller: 3 });
    const { client } = await connectHttp((await listen(server)).url, "2026-07-28");
    const running = Array.from({ length: 3 }, () => client.callTool({ name: "wait", arguments: {} }));
    await eventually(() => server.running === 3);
    const refused = await client.callTool({ name: "wait", arguments: {} });
    expect(refused).toMatchObject({ isError: true, _meta: { "glovebox.error": "busy" } });
    expect(textOf(refused)).toBe(
      "wait did not run: this client has 3 calls running, and more are not taken. Wait for some of them, then call it again.",
    );
    held.open();
    expect((await Promise.all(running)).map(textOf)).toEqual(["done", "done", "done"]);
  });
});
