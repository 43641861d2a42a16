import { afterEach, describe, expect, it } from "vitest";
import { Type, textResult } from "../../../src/index.js";
import { acceptedToken, createMcpServer, mcpTools } from "../../../src/integrations/mcp/index.js";
import {
  closeAll,
  connect,
  connectHttp,
  ERAS,
  EVERY_WAY,
  OTHER_TOKEN,
  openMemory,
  serve,
  serveMemory,
  TOKEN,
  textOf,
  tool,
} from "./fixtures.js";

afterEach(closeAll);

const READING = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

describe("tools/list", () => {
  it.each(EVERY_WAY)("offers the tools with hints and schemas over $wire in $era", async (way) => {
    const { client } = await connect(await serveMemory(), way);
    const { tools } = await client.listTools();
    expect(Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]))).toEqual({
      read: { title: "Read a file", ...READING },
      edit: { title: "Edit a file", readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
      write: { title: "Write a file", readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
      grep: { title: "Search file contents", ...READING },
      find: { title: "Find files", ...READING },
      ls: { title: "List a directory", ...READING },
    });
    for (const { inputSchema, outputSchema } of tools) {
      expect(inputSchema).toMatchObject({ type: "object", additionalProperties: false });
      expect(outputSchema).toMatchObject({ type: "object", properties: { text: { type: "string" } } });
      expect(outputSchema?.required).toContain("text");
    }
  });

  it("is the same for every connection and server over the same tools", async () => {
    const environment = await openMemory();
    for (const era of ERAS) {
      const lists: string[] = [];
      for (const wire of ["stdio", "http", "stdio", "http"] as const) {
        const { client } = await connect(serve({ target: { tools: mcpTools(environment) } }), { wire, era });
        lists.push(JSON.stringify((await client.listTools()).tools));
      }
      expect(new Set(lists).size).toBe(1);
    }
  });

  it("asks for a target where there are several, and offers each tool where it can run", async () => {
    const web = await openMemory();
    const box = await openMemory();
    const targets = { web: { tools: mcpTools(web) }, box: { tools: mcpTools(box, { names: ["read"] }) } };
    const { client } = await connect(serve({ targets }), { wire: "stdio", era: "2026-07-28" });
    const { tools } = await client.listTools();
    const schemas = Object.fromEntries(tools.map(({ name, inputSchema }) => [name, inputSchema]));
    expect(schemas.read).toMatchObject({ required: ["target", "path"], properties: { target: { type: "string", enum: ["web", "box"] } } });
    expect(schemas.write).toMatchObject({ required: ["target", "path", "content"], properties: { target: { enum: ["web"] } } });
  });

  it("shows a user the targets that the token is good for, and no others", async () => {
    const targets = {
      web: { tools: mcpTools(await openMemory()) },
      box: { tools: mcpTools(await openMemory(), { names: ["read", "ls"] }) },
    };
    const server = serve({ targets });
    const tokens = [acceptedToken(TOKEN, { name: "alice" }), acceptedToken(OTHER_TOKEN, { name: "bob", targets: ["box"] })];
    const { url } = await server.serveHttp({ tokens });
    for (const era of ERAS) {
      const bob = (await connectHttp(url, era, OTHER_TOKEN)).client;
      const { tools } = await bob.listTools();
      expect(tools.map(({ name, inputSchema }) => [name, inputSchema.properties?.target])).toEqual([
        ["read", { type: "string", enum: ["box"], description: "Where to run it" }],
        ["ls", { type: "string", enum: ["box"], description: "Where to run it" }],
      ]);
      const refused = await bob.callTool({ name: "read", arguments: { target: "web", path: "a" } });
      expect(textOf(refused)).toBe(
        "read did not run: it needs a target, one of box, and what was given is none of these. Call it again with the target it is meant for.",
      );
      await expect(bob.callTool({ name: "write", arguments: { target: "web", path: "a", content: "" } })).rejects.toMatchObject({
        code: -32602,
      });
      const alice = (await connectHttp(url, era)).client;
      expect((await alice.listTools()).tools).toHaveLength(6);
    }
  });

  it("leaves schemas and data of results out when told to", async () => {
    const { client } = await connect(await serveMemory({ "a.txt": "x\n" }, { structured: false }), { wire: "http", era: "2026-07-28" });
    expect((await client.listTools()).tools.filter(({ outputSchema }) => outputSchema !== undefined)).toEqual([]);
    expect(await client.callTool({ name: "read", arguments: { path: "a.txt" } })).not.toHaveProperty("structuredContent");
  });
});

describe("targets", () => {
  it("never stand in for one that is not named", async () => {
    const web = await openMemory({ "a.txt": "web\n" });
    const box = await openMemory({ "a.txt": "box\n" });
    const { client } = await connect(serve({ targets: { web: { tools: mcpTools(web) }, box: { tools: mcpTools(box) } } }), {
      wire: "stdio",
      era: "2025-11-25",
    });
    expect(textOf(await client.callTool({ name: "read", arguments: { target: "box", path: "a.txt" } }))).toBe("box");
    expect(textOf(await client.callTool({ name: "read", arguments: { path: "a.txt" } }))).toBe(
      "read did not run: it needs a target, one of web, box, and none was given. Call it again with the target it is meant for.",
    );
    for (const target of ["local", "", "WEB", 7, null, ["web"]]) {
      expect(await client.callTool({ name: "read", arguments: { target, path: "a.txt" } })).toMatchObject({
        isError: true,
        _meta: { "glovebox.error": "invalid_argument" },
      });
    }
  });

  it("are refused where they could not be told apart", () => {
    const same = tool("note", async () => textResult("x"));
    const other = { ...same, parameters: Type.Object({ other: Type.String() }) };
    const aimed = { ...same, parameters: Type.Object({ target: Type.String() }) };
    const make = (options: object) => () => createMcpServer({ info: { name: "t", version: "1" }, ...options });
    expect(make({})).toThrow("one target, or several by name");
    expect(make({ target: { tools: [] }, targets: { a: { tools: [] } } })).toThrow("one target, or several by name");
    expect(make({ targets: {} })).toThrow("There is no target");
    expect(make({ targets: { "a b": { tools: [] } } })).toThrow('"a b" cannot be the name of a target');
    expect(make({ target: { tools: [same, same] } })).toThrow('The tool "note" is there twice');
    expect(make({ targets: { a: { tools: [same] }, b: { tools: [other] } } })).toThrow(
      "takes other parameters on one target than on another",
    );
    expect(make({ targets: { a: { tools: [aimed] } } })).toThrow("has a parameter named target");
    expect(make({ target: { tools: [aimed] } })).not.toThrow();
    expect(make({ target: { tools: [{ ...same, detailsSchema: Type.Object({ text: Type.String() }) }] } })).toThrow(
      "has details named text",
    );
  });
});
