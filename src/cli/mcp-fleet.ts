import type { GloveboxEvent } from "../contract/events.js";
import type { Environment, Layer } from "../contract/target.js";
import { createFleet, type Fleet, type FleetUser } from "../fleet/index.js";
import { fleetTargets, type McpToolsOptions, type OwnTargets, parsePolicy, policyHook } from "../integrations/mcp/index.js";
import { audit, readOnly } from "../layers/index.js";
import { type AuditFile, auditActs, openAuditFile } from "./audit-file.js";
import type { Backing } from "./mcp-backing.js";
import type { FleetSettings } from "./mcp-fleet-options.js";
import type { McpOptions } from "./mcp-options.js";
import { provisionerOf } from "./provisioner.js";
import { say } from "./say.js";

const INSTRUCTIONS =
  "These tools act in a sandbox of this user alone: files, paths and commands are those of that place. Files in the working directory, where relative paths start, are there again next time; what runs in the background may be stopped when nothing was called for a while.";

/** Each user his own sandbox, at the first call that he makes. */
export async function openFleetBacking(
  settings: FleetSettings,
  options: McpOptions,
  { tools, policy }: { readonly tools: McpToolsOptions; readonly policy: string | undefined },
): Promise<Backing> {
  const file = options.audit === undefined ? undefined : openAuditFile(options.audit);
  const provisioner = await provisionerOf(settings.hosts, settings.sandbox);
  let fleet: Fleet | undefined;
  try {
    const { id, secret, sandbox, caps, clocks } = settings;
    const record = file && auditActs(file);
    fleet = createFleet({
      provisioner,
      id,
      secret,
      spec: sandbox,
      caps,
      clocks,
      warm: { size: settings.warm },
      config: (user) => ({ layers: layersOf(user, file, options) }),
      onEvent(event) {
        record?.(event);
        tell(event);
      },
    });
    const opened = fleet;
    // An engine that cannot be asked ends the start.
    await opened.survey();
    const ownTargets = targetsOf(opened, settings, tools, policy);
    say(`each user has a sandbox in the fleet ${id}: ${sandbox}`);
    return {
      server: { ownTargets, instructions: INSTRUCTIONS },
      metrics: opened.metrics,
      close: () => closeAll(opened, provisioner),
    };
  } catch (error) {
    await closeAll(fleet, provisioner);
    throw error;
  }
}

async function closeAll(fleet: Fleet | undefined, provisioner: { close(): Promise<void> }): Promise<void> {
  await fleet?.close();
  await provisioner.close();
}

function targetsOf(fleet: Fleet, { idleMs }: FleetSettings, tools: McpToolsOptions, policyText: string | undefined): OwnTargets {
  const onError = (error: Error, { key, tenant }: FleetUser): void =>
    say(`no sandbox for ${tenant === "" ? key : `${key} of ${tenant}`}: ${error.message}`);
  const base = { tools, onError, ...(idleMs === undefined ? {} : { idleMs }) };
  if (policyText === undefined) return fleetTargets(fleet, base);
  const offered = fleetTargets(fleet, base).tools.map(({ name }) => name);
  const policy = parsePolicy(policyText, { tools: offered, targets: [] });
  const hooks = (environment: Environment) => ({ beforeToolCall: policyHook(policy, { target: "", environment }) });
  return fleetTargets(fleet, { ...base, hooks });
}

function layersOf({ key, tenant }: FleetUser, file: AuditFile | undefined, options: McpOptions): readonly Layer[] {
  const who = JSON.stringify({ user: key, ...(tenant === "" ? {} : { tenant }) }).slice(0, -1);
  return [
    ...(file === undefined ? [] : [audit({ write: (line) => file(`${who},${line.slice(1)}`) })]),
    ...(options.readOnly ? [readOnly()] : []),
  ];
}

/** What whoever runs the server should know at once. */
const NEWS: ReadonlySet<string> = new Set([
  "adopted",
  "reclaimed",
  "restored",
  "spec_changed",
  "lost",
  "over_quota",
  "foreign",
  "failed",
  "engine_lost",
  "engine_restored",
]);

function tell(event: GloveboxEvent): void {
  if (event.type !== "fleet_act" || !NEWS.has(event.act)) return;
  say([event.act, event.sandbox, event.message].filter(Boolean).join(" "));
}
