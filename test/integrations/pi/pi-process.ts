import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { builtFile } from "../built-package.js";
import { hostNode } from "../hosts.js";
import { piEnvironment } from "./scene.js";

/** A tool call of the scripted model's. */
export interface ScriptedCall {
  readonly name: string;
  readonly arguments: object;
}

export interface PiResult {
  readonly toolName: string;
  readonly text: string;
  readonly isError: boolean;
}

export interface PiOptions {
  readonly packages: string;
  /** Where Pi itself runs. */
  readonly cwd: string;
  /** What the model does, turn by turn; then it says what it was told, as JSON. */
  readonly script?: readonly (readonly ScriptedCall[])[];
  readonly env?: Readonly<Record<string, string>>;
  /** Extensions that are loaded before ours. */
  readonly extensions?: readonly string[];
}

type Message = Readonly<Record<string, unknown>> & { readonly type: string };

export interface PiProcess {
  /** Sends a command and answers with the response to it. */
  request(command: object): Promise<Readonly<Record<string, unknown>>>;
  /** Lets the script run; answers with the tools' results, and with what the model said last. */
  prompt(): Promise<{ readonly results: readonly PiResult[]; readonly said: string }>;
  readonly stderr: string;
  /** The exit code, once it has ended. */
  ended(): Promise<number | null>;
}

const MODEL = fileURLToPath(new URL("scripted-model.worker.ts", import.meta.url));

/** Starts Pi, as published, in RPC mode, with our extension as built and the scripted model. Stopped when the test is over. */
export async function startPi({ packages, cwd, script = [], env = {}, extensions = [] }: PiOptions): Promise<PiProcess> {
  const cli = join(packages, "node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js");
  const loaded = [...extensions, builtFile("pi-extension.js"), MODEL].flatMap((path) => ["-e", path]);
  const tools = "read,bash,edit,write,grep,find,ls";
  const calls = script.map((turn, at) => turn.map((call, index) => ({ id: `${at}-${index}`, ...call })));
  const child = spawn(await hostNode(), [cli, "--mode", "rpc", "--no-session", "--model", "scripted/model", "--tools", tools, ...loaded], {
    cwd,
    env: { ...process.env, ...(await piEnvironment()), PI_SCRIPT: JSON.stringify(calls), ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  // Not "exit": what it said last may still be on its way then.
  const exited = once(child, "close") as Promise<[number | null]>;
  onTestFinished(async () => {
    child.stdin.end();
    const timer = setTimeout(() => child.kill("SIGKILL"), 10_000);
    await exited;
    clearTimeout(timer);
  });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const messages = readMessages(child, () => stderr);
  let requests = 0;
  const request: PiProcess["request"] = async (command) => {
    requests += 1;
    const id = `r${requests}`;
    child.stdin.write(`${JSON.stringify({ id, ...command })}\n`);
    return await messages.next((message) => message.type === "response" && message.id === id);
  };
  return {
    request,
    async prompt() {
      const results: PiResult[] = [];
      let said = "";
      const stop = messages.watch((message) => {
        if (message.type !== "message_end") return;
        const { role, toolName, content, isError } = message.message as Readonly<Record<string, unknown>>;
        if (role === "toolResult") results.push({ toolName: String(toolName), text: textOf(content), isError: isError === true });
        if (role === "assistant") said = textOf(content);
      });
      const settled = messages.next(({ type }) => type === "agent_settled");
      await Promise.all([settled, request({ type: "prompt", message: "go" })]);
      stop();
      return { results, said };
    },
    get stderr() {
      return stderr;
    },
    ended: async () => (await exited)[0],
  };
}

function textOf(content: unknown): string {
  return (content as readonly { readonly text?: string }[]).map(({ text = "" }) => text).join("\n");
}

interface Messages {
  next(wanted: (message: Message) => boolean): Promise<Message>;
  watch(listener: (message: Message) => void): () => void;
}

function readMessages(child: ChildProcess, stderr: () => string): Messages {
  const listeners = new Set<(message: Message) => void>();
  let pending = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    const lines = (pending + chunk.toString("utf8")).split("\n");
    pending = lines.pop() ?? "";
    for (const line of lines) for (const listener of [...listeners]) listener(JSON.parse(line) as Message);
  });
  const watch: Messages["watch"] = (listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  return {
    watch,
    next: (wanted) =>
      new Promise((resolve, reject) => {
        const stop = watch((message) => {
          if (!wanted(message)) return;
          stop();
          resolve(message);
        });
        child.once("close", (code) => reject(new Error(`Pi ended with ${code}: ${stderr()}`)));
      }),
  };
}
