import { resolveTarget } from "../../adapters/index.js";
import type { Environment, Layer } from "../contract/target.js";
import { openEnvironment } from "../environment.js";
import { type McpTarget, type McpToolsOptions, mcpTools, parsePolicy, policyHook } from "../integrations/mcp/index.js";
import { audit, readOnly } from "../layers/index.js";
import { openAuditFile } from "./audit-file.js";
import type { Backing } from "./mcp-backing.js";
import { refuseReachablePolicy } from "./mcp-files.js";
import type { McpOptions, NamedUrl } from "./mcp-options.js";
import { say } from "./say.js";

export interface TargetsOptions {
  readonly tools: McpToolsOptions;
  readonly policy: { readonly file: string; readonly text: string } | undefined;
  readonly signal: AbortSignal;
}

/** The same places for everyone, all of them opened now. */
export async function openTargetsBacking(
  urls: readonly NamedUrl[],
  options: McpOptions,
  { tools, policy, signal }: TargetsOptions,
): Promise<Backing> {
  const environments = await openAll(urls, options, signal);
  const close = async (): Promise<void> => {
    await Promise.allSettled(environments.map((environment) => environment.close()));
  };
  try {
    const offered = environments.map((environment) => mcpTools(environment, tools));
    if (policy !== undefined) refuseReachablePolicy(policy.file, environments);
    const names = urls.flatMap(({ name }) => name ?? []);
    const subjects = { tools: [...new Set(offered.flat().map(({ name }) => name))], targets: names };
    const rules = policy === undefined ? undefined : parsePolicy(policy.text, subjects);
    const targets = environments.map((environment, index): McpTarget => {
      const target = urls[index]?.name ?? "";
      return { tools: offered[index] ?? [], ...(rules && { beforeToolCall: policyHook(rules, { target, environment }) }) };
    });
    await describe(environments);
    const instructions = environments.map((environment, index) => instruction(urls[index]?.name, environment)).join("\n");
    const named = Object.fromEntries(names.map((name, index) => [name, targets[index] as McpTarget]));
    return { server: { ...(names.length === 0 ? { target: targets[0] } : { targets: named }), instructions }, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** For the model: what the tools act on. */
function instruction(name: string | undefined, { label, cwd }: Environment): string {
  const what = name === undefined ? "These tools act" : `With target ${name}, these tools act`;
  return `${what} on ${label}: files, paths and commands are those of that place. Relative paths start in ${cwd}.`;
}

/** All of them, or none: a server that lacks one of its targets would be trusted with what it cannot do. */
async function openAll(urls: readonly NamedUrl[], options: McpOptions, signal: AbortSignal): Promise<readonly Environment[]> {
  const layers: Layer[] = [];
  if (options.audit !== undefined) layers.push(audit({ write: openAuditFile(options.audit) }));
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
