import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { builtCli } from "./integrations/mcp/built-cli.js";
import { closeAll, connectHttp, newClient, textOf, whenDone } from "./integrations/mcp/fixtures.js";

/*
 * The README's blocks for MCP clients: each is read as the client reads it, and what it starts answers.
 */
const document = new URL("../README.md", import.meta.url);

let directory: string;
let text: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "glovebox-clients-"));
  await writeFile(join(directory, "a.txt"), "hello\n");
  text = await readFile(document, "utf8");
});
afterEach(closeAll);
afterAll(() => rm(directory, { recursive: true }));

/** The first block after the client's name in bold. */
function block(client: string, language: string): string {
  const at = text.indexOf(`**${client}**`);
  const found = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "m").exec(text.slice(at))?.[1];
  if (at < 0 || found === undefined) throw new Error(`README.md has no ${language} block for ${client}`);
  return found;
}

interface Entry {
  readonly command: string | readonly string[];
  readonly args?: readonly string[];
}

/** Each client's configuration, read as the client reads it, down to the words of the command. */
const CLIENTS: Readonly<Record<string, () => readonly string[]>> = {
  "Claude Code": () => block("Claude Code", "sh").trim().split(" -- ")[1]?.split(" ") ?? [],
  // Cursor's is the same block.
  "Claude Desktop": () => {
    expect(block("Cursor", "json")).toBe(block("Claude Desktop", "json"));
    return words(JSON.parse(block("Claude Desktop", "json")).mcpServers.glovebox);
  },
  "VS Code": () => {
    const entry = JSON.parse(block("VS Code", "json")).servers.glovebox as Entry & { type: string };
    expect(entry.type).toBe("stdio");
    return words(entry);
  },
  Codex: () => {
    const [table, ...lines] = block("Codex", "toml").trim().split("\n");
    expect(table).toBe("[mcp_servers.glovebox]");
    // Strings, arrays of them and integers are written alike in TOML and JSON.
    return words(
      Object.fromEntries(
        lines.map((line) => line.split(" = ", 2)).map(([key = "", value = ""]) => [key, JSON.parse(value)]),
      ) as unknown as Entry,
    );
  },
  opencode: () => {
    const entry = JSON.parse(block("opencode", "json")).mcp.glovebox as Entry & { type: string };
    expect(entry.type).toBe("local");
    return words(entry);
  },
};

function words({ command, args = [] }: Entry): readonly string[] {
  return [...[command].flat(), ...args];
}

/** The words with this working tree in the place of the published package, and a directory of ours in that of the example's. */
async function ours(given: readonly string[]): Promise<readonly string[]> {
  expect(given.slice(0, 4)).toEqual(["npx", "-y", "glovebox", "mcp"]);
  return [await builtCli(), "mcp", ...given.slice(4).map((word) => word.replace("/home/me/project", directory))];
}

describe("README, in your agent", () => {
  it.each(Object.keys(CLIENTS))("starts a server that answers, for %s", async (client) => {
    const args = await ours(CLIENTS[client]?.() ?? []);
    const connected = newClient("2025-11-25");
    await connected.connect(new StdioClientTransport({ command: process.execPath, args: [...args], stderr: "ignore" }));
    whenDone(() => connected.close());
    expect((await connected.listTools()).tools).toHaveLength(7);
    expect(textOf(await connected.callTool({ name: "read", arguments: { path: "a.txt" } }))).toBe("hello");
  });

  it("starts a server over HTTP, and adds it by the address and header that it wants", async () => {
    const [start = "", add = ""] = block("Any client, over HTTP", "sh").split("\n");
    const started = await ours(start.split(" "));
    const args = started.map((word) => word.replace(/:7411$/, ":0"));
    const child = spawn(process.execPath, args, { env: { ...process.env, GLOVEBOX_TOKEN: "" }, stdio: ["ignore", "ignore", "pipe"] });
    whenDone(async () => void child.kill());
    let said = "";
    for await (const chunk of child.stderr) {
      said += String(chunk);
      if (/shown this once: \S+\n/.test(said)) break;
    }
    const [, url = ""] =
      /^claude mcp add --transport http glovebox (\S+) --header "Authorization: Bearer \$GLOVEBOX_TOKEN"$/.exec(add) ?? [];
    const port = /listening on http:\/\/127\.0\.0\.1:(\d+)\/mcp/.exec(said)?.[1] ?? "";
    const { client } = await connectHttp(url.replace(":7411/", `:${port}/`), "2026-07-28", /shown this once: (\S+)/.exec(said)?.[1]);
    expect(textOf(await client.callTool({ name: "read", arguments: { path: "a.txt" } }))).toBe("hello");
  });
});
