import { acceptedToken, createMcpServer, guardStdout, type McpServer } from "../integrations/mcp/index.js";
import { listenForInterruption } from "./interruption.js";
import type { Backing } from "./mcp-backing.js";
import { readPolicyFile } from "./mcp-files.js";
import { fleetOptionsOf } from "./mcp-fleet-options.js";
import { addressOf, bashTimeoutOf, type McpOptions, targetsOf, toolsOf } from "./mcp-options.js";
import { takeMetricsToken, takeToken, tokensOf } from "./mcp-tokens.js";
import { say } from "./say.js";
import { version } from "./version.js";

/** `glovebox mcp`: an MCP server over standard input and output, or over HTTP, until the client leaves or a signal comes. */
export async function mcp(options: McpOptions): Promise<void> {
  if (options.http === undefined) keepStdoutForProtocol();
  const settings = settingsOf(options);
  const { signal } = listenForInterruption("server");
  const interrupted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  const backing = await openBacking(settings, options, signal);
  try {
    const server = createMcpServer({
      info: { name: "glovebox", title: "Glovebox", version },
      ...backing.server,
      structured: options.structured ?? true,
      callTimeoutMs: (settings.tools.bashTimeout.maximumSeconds + 5) * 1000,
      onError: (error) => say(`connection: ${error.message}`),
    });
    try {
      const ended = settings.http === undefined ? server.serveStdio().closed : serveHttp(server, settings.http, backing, options);
      await Promise.race([ended, interrupted]);
    } finally {
      await server.close();
    }
  } finally {
    await backing.close();
  }
  process.stdin.destroy();
}

/** Everything that can be found wrong before anything is connected to. */
function settingsOf(options: McpOptions) {
  const fleet = fleetOptionsOf(options);
  const urls = fleet === undefined ? targetsOf(options.target, process.env.GLOVEBOX_TARGET) : [];
  const names = urls.flatMap(({ name }) => name ?? []);
  const metricsToken = takeMetricsToken();
  return {
    fleet,
    urls,
    tools: { names: toolsOf(options.tools), readOnly: options.readOnly, bashTimeout: bashTimeoutOf(options.bashTimeout) },
    policy: readPolicyFile(options.policy),
    http:
      options.http === undefined
        ? undefined
        : { ...addressOf(options.http), ...tokensOf(options.tokenFile, takeToken(), names), metricsToken },
  };
}

type Settings = ReturnType<typeof settingsOf>;

async function openBacking({ fleet, urls, tools, policy }: Settings, options: McpOptions, signal: AbortSignal): Promise<Backing> {
  if (fleet === undefined) {
    const { openTargetsBacking } = await import("./mcp-targets.js");
    return await openTargetsBacking(urls, options, { tools, policy, signal });
  }
  const { openFleetBacking } = await import("./mcp-fleet.js");
  return await openFleetBacking(fleet, options, { tools, policy: policy?.text });
}

async function serveHttp(
  server: McpServer,
  { host, port, tokens, generated, metricsToken }: NonNullable<Settings["http"]>,
  { metrics }: Backing,
  { allowHost, allowOrigin }: McpOptions,
): Promise<never> {
  const page =
    metrics === undefined || metricsToken === undefined
      ? undefined
      : { tokens: [acceptedToken(metricsToken, { name: "metrics" })], text: metrics };
  const { url } = await server.serveHttp({ host, port, tokens, metrics: page, allowedHosts: allowHost, allowedOrigins: allowOrigin });
  say(`listening on ${url}`);
  if (generated !== undefined) say(`token, shown this once: ${generated}`);
  return await new Promise<never>(() => undefined);
}

/** Standard output is the protocol's; a client that has gone away must not end us before what it started has ended. */
function keepStdoutForProtocol(): void {
  process.stdout.removeAllListeners("error");
  guardStdout();
}
