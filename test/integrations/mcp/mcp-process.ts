import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Client } from "@modelcontextprotocol/client";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { builtCli } from "./built-cli.js";
import { connectHttp, type Era, newClient, whenDone } from "./fixtures.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** The token of servers that are started here. */
export const PROCESS_TOKEN = "token-of-a-server-process";

export interface Started {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves with what the pattern found on standard error; rejects when the process ends without it. */
  says(pattern: RegExp): Promise<string>;
  /** Ends it as a supervisor does; resolves with its exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
  readonly ended: Promise<number | null>;
}

/** `glovebox` with these words, a process of its own with open pipes. */
export async function start(words: readonly string[], env: NodeJS.ProcessEnv = {}, imports: readonly string[] = []): Promise<Started> {
  const nodeWords = [...imports.flatMap((file) => ["--import", file]), await builtCli(), ...words];
  const inherited = { ...process.env, GLOVEBOX_TARGET: "", GLOVEBOX_TOKEN: "", XDG_CONFIG_HOME: "/nonexistent", ...env };
  const child = spawn(process.execPath, nodeWords, { cwd: root, env: inherited, stdio: ["pipe", "pipe", "pipe"] });
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  // Not "exit": what it said last may still be on its way then.
  const ended = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
  const started: Started = {
    child,
    stdout,
    stderr,
    ended,
    says: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = pattern.exec(stderr());
          if (found !== null) resolve(found[1] ?? found[0]);
        };
        child.stderr.on("data", look);
        look();
        child.once("close", (code) => reject(new Error(`it ended with ${code} and said: ${stderr()}`)));
      }),
    async end(signal = "SIGTERM") {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      return await ended;
    },
  };
  whenDone(() => started.end("SIGKILL"));
  return started;
}

export interface StdioProcess {
  readonly client: Client;
  readonly pid: number;
  readonly stderr: () => string;
}

/** What the official client hands to a server, and where the engine is, which a client would be told in its configuration. */
export function stdioEnvironment(): Record<string, string> {
  const { DOCKER_HOST } = process.env;
  return { ...getDefaultEnvironment(), ...(DOCKER_HOST === undefined ? {} : { DOCKER_HOST }) };
}

/** `glovebox mcp` as the official client starts it. */
export async function startStdio(words: readonly string[], era: Era = "2026-07-28"): Promise<StdioProcess> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [await builtCli(), "mcp", ...words],
    cwd: root,
    env: stdioEnvironment(),
    stderr: "pipe",
  });
  const stderr = transport.stderr === null ? () => "" : collect(transport.stderr);
  const client = newClient(era);
  await client.connect(transport);
  whenDone(() => client.close());
  return { client, pid: transport.pid ?? 0, stderr };
}

export interface HttpProcess extends Started {
  readonly url: string;
  readonly pid: number;
  connect(era?: Era): Promise<Client>;
}

/** `glovebox mcp --http` on a free port, with PROCESS_TOKEN. */
export async function startHttp(words: readonly string[]): Promise<HttpProcess> {
  const started = await start(["mcp", "--http", "0", ...words], { GLOVEBOX_TOKEN: PROCESS_TOKEN });
  const url = await started.says(/listening on (\S+)/);
  const connect = async (era: Era = "2026-07-28") => (await connectHttp(url, era, PROCESS_TOKEN)).client;
  return { ...started, url, pid: started.child.pid ?? 0, connect };
}

function collect(stream: Pick<NodeJS.EventEmitter, "on">): () => string {
  let text = "";
  stream.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  return () => text;
}
