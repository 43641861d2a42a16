import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { builtCli } from "./built-cli.js";
import { closeAll, connectHttp, newClient, textOf, whenDone } from "./fixtures.js";

const document = new URL("../../../docs/clients.md", import.meta.url);

let directory: string;
let text: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "glovebox-clients-"));
  await writeFile(join(directory, "a.txt"), "hello\n");
  text = await readFile(document, "utf8");
});
afterEach(closeAll);
afterAll(() => rm(directory, { recursive: true }));

/** The first block of that section. */
function block(section: string, language: string): string {
  const rest = text.slice(text.indexOf(`## ${section}\n`));
  const found = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "m").exec(rest)?.[1];
  if (found === undefined) throw new Error(`docs/clients.md has no ${language} block for ${section}`);
  return found;
}

interface Entry {
  readonly command: string | readonly string[];
  readonly args?: readonly string[];
}

/** Each client's configuration, read as the client reads it, down to the words of the command. */
const CLIENTS: Readonly<Record<string, () => readonly string[]>> = {
  "Claude Code": () => block("Claude Code", "sh").trim().split(" -- ")[1]?.split(" ") ?? [],
  "Claude Desktop": () => words(JSON.parse(block("Claude Desktop", "json")).mcpServers.glovebox),
  Cursor: () => words(JSON.parse(block("Cursor", "json")).mcpServers.glovebox),
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

describe("docs/clients.md", () => {
  it("has a section for each client", () => {
    expect([...text.matchAll(/^## (.*)$/gm)].map(([, title]) => title)).toEqual([...Object.keys(CLIENTS), "Any client, over HTTP"]);
  });

  it.each(Object.keys(CLIENTS))("starts a server that answers, for %s", async (client) => {
    const args = await ours(CLIENTS[client]?.() ?? []);
    const connected = newClient("2025-11-25");
    await connected.connect(new StdioClientTransport({ command: process.execPath, args: [...args], stderr: "ignore" }));
    whenDone(() => connected.close());
    expect((await connected.listTools()).tools).toHaveLength(7);
    expect(textOf(await connected.callTool({ name: "read", arguments: { path: "a.txt" } }))).toBe("hello");
  });

  it("starts a server over HTTP, and adds it by the address and header that it wants", async () => {
    const started = await ours(block("Any client, over HTTP", "sh").trim().split(" "));
    const args = started.map((word) => word.replace(/:7411$/, ":0"));
    const child = spawn(process.execPath, args, { env: { ...process.env, GLOVEBOX_TOKEN: "" }, stdio: ["ignore", "ignore", "pipe"] });
    whenDone(async () => void child.kill());
    let said = "";
    for await (const chunk of child.stderr) {
      said += String(chunk);
      if (/shown this once: \S+\n/.test(said)) break;
    }
    const add = /claude mcp add --transport http glovebox (\S+) --header "Authorization: Bearer \$GLOVEBOX_TOKEN"/.exec(text)?.[1] ?? "";
    const port = /listening on http:\/\/127\.0\.0\.1:(\d+)\/mcp/.exec(said)?.[1] ?? "";
    const { client } = await connectHttp(add.replace(":7411/", `:${port}/`), "2026-07-28", /shown this once: (\S+)/.exec(said)?.[1]);
    expect(textOf(await client.callTool({ name: "read", arguments: { path: "a.txt" } }))).toBe("hello");
  });
});
