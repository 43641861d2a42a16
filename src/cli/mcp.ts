import { openSync, writeSync } from "node:fs";
import { resolveTarget } from "../../adapters/index.js";
import { GloveboxError } from "../contract/errors.js";
import type { Environment, Layer } from "../contract/target.js";
import { openEnvironment } from "../environment.js";
import {
  createMcpServer,
  guardStdout,
  type McpServer,
  type McpTarget,
  mcpTools,
  parsePolicy,
  policyHook,
} from "../integrations/mcp/index.js";
import { audit, readOnly } from "../layers/index.js";
import { escapeLine } from "../text/escape.js";
import { EXIT } from "./exit-codes.js";
import { readPolicyFile, refuseReachablePolicy } from "./mcp-files.js";
import { addressOf, bashTimeoutOf, type McpOptions, type NamedUrl, targetsOf, toolsOf } from "./mcp-options.js";
import { takeToken, tokensOf } from "./mcp-tokens.js";
import { version } from "./version.js";

/** `glovebox mcp`: an MCP server over standard input and output, or over HTTP, until the client leaves or a signal comes. */
export async function mcp(options: McpOptions): Promise<void> {
  if (options.http === undefined) keepStdoutForProtocol();
  const settings = settingsOf(options);
  const { interrupted, signal } = interruption();
  const environments = await openAll(settings.urls, options, signal);
  try {
    const server = createServer(settings, environments, options);
    try {
      await describe(environments);
      const ended = settings.http === undefined ? server.serveStdio().closed : serveHttp(server, settings.http, options);
      await Promise.race([ended, interrupted]);
    } finally {
      await server.close();
    }
  } finally {
    await Promise.allSettled(environments.map((environment) => environment.close()));
  }
  process.stdin.destroy();
}

/** Everything that can be found wrong before anything is connected to. */
function settingsOf(options: McpOptions) {
  const urls = targetsOf(options.target, process.env.GLOVEBOX_TARGET);
  const names = urls.flatMap(({ name }) => name ?? []);
  return {
    urls,
    names,
    tools: toolsOf(options.tools),
    bashTimeout: bashTimeoutOf(options.bashTimeout),
    policy: readPolicyFile(options.policy),
    http: options.http === undefined ? undefined : { ...addressOf(options.http), ...tokensOf(options.tokenFile, takeToken(), names) },
  };
}

type Settings = ReturnType<typeof settingsOf>;

function createServer({ urls, names, ...settings }: Settings, environments: readonly Environment[], options: McpOptions): McpServer {
  const { bashTimeout } = settings;
  const tools = environments.map((environment) =>
    mcpTools(environment, { names: settings.tools, readOnly: options.readOnly, bashTimeout }),
  );
  if (settings.policy !== undefined) refuseReachablePolicy(settings.policy.file, environments);
  const subjects = { tools: [...new Set(tools.flat().map(({ name }) => name))], targets: names };
  const policy = settings.policy === undefined ? undefined : parsePolicy(settings.policy.text, subjects);
  const targets = environments.map((environment, index): McpTarget => {
    const target = urls[index]?.name ?? "";
    return { tools: tools[index] ?? [], ...(policy && { beforeToolCall: policyHook(policy, { target, environment }) }) };
  });
  return createMcpServer({
    info: { name: "glovebox", title: "Glovebox", version },
    ...(names.length === 0
      ? { target: targets[0] }
      : { targets: Object.fromEntries(names.map((name, index) => [name, targets[index] as McpTarget])) }),
    instructions: environments.map((environment, index) => instruction(urls[index]?.name, environment)).join("\n"),
    structured: options.structured ?? true,
    callTimeoutMs: (bashTimeout.maximumSeconds + 5) * 1000,
    onError: (error) => say(`connection: ${error.message}`),
  });
}

/** For the model: what the tools act on. */
function instruction(name: string | undefined, { label, cwd }: Environment): string {
  const what = name === undefined ? "These tools act" : `With target ${name}, these tools act`;
  return `${what} on ${label}: files, paths and commands are those of that place. Relative paths start in ${cwd}.`;
}

async function serveHttp(server: McpServer, http: NonNullable<Settings["http"]>, { allowHost, allowOrigin }: McpOptions): Promise<never> {
  const { host, port, tokens, generated } = http;
  const { url } = await server.serveHttp({ host, port, tokens, allowedHosts: allowHost, allowedOrigins: allowOrigin });
  say(`listening on ${url}`);
  if (generated !== undefined) say(`token, shown this once: ${generated}`);
  return await new Promise<never>(() => undefined);
}

/** All of them, or none: a server that lacks one of its targets would be trusted with what it cannot do. */
async function openAll(urls: readonly NamedUrl[], options: McpOptions, signal: AbortSignal): Promise<readonly Environment[]> {
  const layers: Layer[] = [];
  if (options.audit !== undefined) {
    const file = openSync(options.audit, "a", 0o600);
    layers.push(audit({ write: (line) => void writeSync(file, line) }));
  }
  if (options.readOnly) layers.push(readOnly());
  const targets = await Promise.all(urls.map(({ url }) => resolveTarget(url)));
  const opened = await Promise.allSettled(targets.map((target) => openEnvironment(target, { layers, signal })));
  const environments = opened.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  const failed = opened.find((outcome) => outcome.status === "rejected");
  if (failed === undefined) return environments;
  await Promise.allSettled(environments.map((environment) => environment.close()));
  throw failed.reason;
}

async function describe(environments: readonly Environment[]): Promise<void> {
  for (const environment of environments) {
    const { label, isolation } = await environment.describe();
    say(`${label}: isolation: ${isolation}`);
  }
}

/** Standard output is the protocol's; a client that has gone away must not end us before what it started has ended. */
function keepStdoutForProtocol(): void {
  process.stdout.removeAllListeners("error");
  guardStdout();
}

/** Tells of the first signal that asks us to end; the second one ends the process at once. */
function interruption(): { readonly interrupted: Promise<void>; readonly signal: AbortSignal } {
  const controller = new AbortController();
  const interrupted = new Promise<void>((resolve) => controller.signal.addEventListener("abort", () => resolve(), { once: true }));
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(EXIT.interrupted);
      controller.abort(new GloveboxError("aborted", `The server was interrupted by ${name}.`));
    });
  }
  return { interrupted, signal: controller.signal };
}

function say(line: string): void {
  process.stderr.write(`glovebox: ${escapeLine(line)}\n`);
}
