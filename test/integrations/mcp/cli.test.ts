import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { closeAll, connectHttp, textOf } from "./fixtures.js";
import { PROCESS_TOKEN, start, startHttp, startStdio } from "./mcp-process.js";
import { MODERN_META } from "./raw.js";

let directory: string;
let workspace: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "glovebox-mcp-"));
  workspace = join(directory, "workspace");
  await mkdir(workspace);
  await writeFile(join(workspace, "a.txt"), "hello\n");
});
afterEach(closeAll);
afterAll(() => rm(directory, { recursive: true }));

const call = (id: number, name: string, args: object, meta: object = {}) =>
  `${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args, _meta: { ...MODERN_META, ...meta } } })}\n`;

describe("glovebox mcp, called wrongly", () => {
  it.each([
    [[], "no target: give --target URL (local:. for this directory), or --target NAME=URL several times"],
    [["-t", "memory:", "--http", "0.0.0.0:0"], "0.0.0.0 can be reached from other machines"],
    [["-t", "memory:", "--eval", "1"], "unknown option '--eval'"],
    [["-t", "memory:", "--", "--http"], "too many arguments"],
  ])("A16 %j: exit 2, and why", async (words, says) => {
    const { ended, stdout, stderr } = await start(["mcp", ...words]);
    expect(await ended).toBe(2);
    expect(stdout()).toBe("");
    expect(stderr()).toContain(says);
  });
});

describe("glovebox mcp over stdio", () => {
  it("A11 writes JSON-RPC to standard output and nothing else, whoever prints", async () => {
    const noise = new URL("print-noise.mjs", import.meta.url).href;
    const { child, stdout, stderr, ended } = await start(["mcp", "-t", `local:${workspace}`], {}, [noise]);
    for (let id = 1; id <= 20; id += 1) {
      const command = "echo from a command; echo more >&2";
      child.stdin?.write(id % 2 ? call(id, "bash", { command }, { progressToken: id }) : call(id, "read", { path: "a.txt" }));
    }
    const answered = () =>
      stdout()
        .split("\n")
        .filter((line) => line.includes('"result"')).length;
    while (answered() < 20) await new Promise((resolve) => setTimeout(resolve, 20));
    child.stdin?.end();
    expect(await ended).toBe(0);
    const lines = stdout().trimEnd().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { jsonrpc: string }).jsonrpc)).toEqual(lines.map(() => "2.0"));
    expect(stdout()).not.toContain("noise");
    expect(stderr()).toContain("noise from console.log");
    expect(stderr()).toContain(`glovebox: local:${workspace}: isolation: none`);
  });

  it("A13 serves what the flags say, keeps an audit of whole lines, and ends when the client leaves", async () => {
    const audit = join(directory, "audit.jsonl");
    const { client, pid, stderr } = await startStdio(
      ["-t", `local:${workspace}`, "--read-only", "--no-structured", "--audit", audit],
      "2025-11-25",
    );
    expect((await client.listTools()).tools.map(({ name, outputSchema }) => [name, outputSchema])).toEqual(
      ["read", "grep", "find", "ls"].map((name) => [name, undefined]),
    );
    expect(client.getInstructions()).toBe(
      `These tools act on local:${workspace}: files, paths and commands are those of that place. Relative paths start in ${workspace}.`,
    );
    expect(textOf(await client.callTool({ name: "read", arguments: { path: 'a.txt\n{"level":"fatal"}' } }))).toContain("does not exist");
    expect(textOf(await client.callTool({ name: "read", arguments: { path: "a.txt" } }))).toBe("hello");
    await client.close();
    expect(() => process.kill(pid, 0)).toThrow();
    const entries = (await readFile(audit, "utf8"))
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { verb?: string; level?: string });
    expect(entries.some(({ verb }) => verb === "readFile")).toBe(true);
    expect(entries.some(({ level }) => level !== undefined)).toBe(false);
    expect(
      stderr()
        .split("\n")
        .filter((line) => line !== "" && !line.startsWith("glovebox: ")),
    ).toEqual([]);
  });

  it("serves several targets, and ends a command before the client's patience does", async () => {
    const { client } = await startStdio(["-t", `here=local:${workspace}`, "-t", "there=memory:", "--bash-timeout", "1,2"]);
    const bash = (await client.listTools()).tools.find(({ name }) => name === "bash");
    expect(bash?.inputSchema.properties?.target).toMatchObject({ enum: ["here"] });
    const late = await client.callTool({ name: "bash", arguments: { target: "here", command: "echo early; sleep 30; echo late" } });
    expect(late).toMatchObject({ isError: true, structuredContent: { timedOut: true, outputBytes: 6 } });
    expect(textOf(late)).toMatch(/^early\n\nTimed out after 1 second/);
    expect(textOf(await client.callTool({ name: "ls", arguments: { target: "there" } }))).toContain("empty directory");
  });

  it("A15 keeps the user's policy, and no policy that lies in the workspace", async () => {
    const policy = { default: "allow", rules: [{ decision: "deny", tools: ["read"], reason: "because" }] };
    for (const name of [".gloveboxrc", "glovebox.config.json", "policy.json", ".glovebox/policy.json", "glovebox/policy.json"]) {
      await mkdir(join(workspace, name, ".."), { recursive: true });
      await writeFile(join(workspace, name), JSON.stringify(policy));
    }
    const config = join(directory, "config");
    await mkdir(join(config, "glovebox"), { recursive: true });
    const read = async () => {
      const { child, stdout, ended } = await start(["mcp", "-t", `local:${workspace}`], { XDG_CONFIG_HOME: config });
      child.stdin?.write(call(1, "read", { path: "a.txt" }));
      while (!stdout().endsWith("\n")) await new Promise((resolve) => setTimeout(resolve, 20));
      child.stdin?.end();
      expect(await ended).toBe(0);
      return textOf((JSON.parse(stdout()) as { result: unknown }).result);
    };
    expect(await read()).toBe("hello");
    await writeFile(join(config, "glovebox", "policy.json"), JSON.stringify(policy), { mode: 0o600 });
    expect(await read()).toContain("it was blocked: the policy does not allow it: because");
  });
});

describe("glovebox mcp over HTTP", () => {
  it("A14 prints a token that it made once, and no token anywhere else", async () => {
    const server = await start(["mcp", "--http", "0", "-t", `local:${workspace}`]);
    const url = await server.says(/listening on (\S+)/);
    const token = await server.says(/shown this once: (\S+)\n/);
    expect(Buffer.from(token, "base64url")).toHaveLength(32);
    const { client } = await connectHttp(url, "2026-07-28", token);
    const result = await client.callTool({ name: "bash", arguments: { command: "env; exit 3" } });
    expect(JSON.stringify(result)).not.toContain(token);
    await fetch(url, { method: "POST", headers: { authorization: `Bearer ${token}x`, "content-type": "application/json" }, body: "{" });
    expect(await server.end()).toBe(0);
    expect(server.stderr().split(token)).toHaveLength(2);
    expect(server.stdout()).toBe("");
  });

  it("A14 keeps the token of its environment from commands, and ends on the signal with nothing left behind", async () => {
    const server = await startHttp(["-t", `local:${workspace}`]);
    const client = await server.connect();
    const result = await client.callTool({ name: "bash", arguments: { command: "env" } });
    expect(textOf(result)).toContain("PATH=");
    expect(textOf(result)).not.toContain("GLOVEBOX_TOKEN");
    expect(await server.end()).toBe(0);
    expect(server.stderr()).not.toContain(PROCESS_TOKEN);
  });
});
