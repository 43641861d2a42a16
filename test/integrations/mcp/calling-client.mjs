// A client as a process of its own: connects, calls bash with the command, and waits for the answer.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [wire, where, era, command, ...words] = process.argv.slice(2);
const transport =
  wire === "http"
    ? new StreamableHTTPClientTransport(new URL(where), {
        requestInit: { headers: { Authorization: `Bearer ${process.env.CLIENT_TOKEN}` } },
      })
    : new StdioClientTransport({ command: process.execPath, args: [where, "mcp", ...words], env: process.env, stderr: "ignore" });
const client = new Client({ name: "calling", version: "1" }, era === "2026-07-28" ? { versionNegotiation: { mode: "auto" } } : {});
await client.connect(transport);
if (wire === "stdio") process.stderr.write(`server ${transport.pid}\n`);
await client.callTool({ name: "bash", arguments: { command } });
