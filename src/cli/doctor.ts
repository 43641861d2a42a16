import { resolveTarget } from "../../adapters/index.js";
import type { Environment } from "../contract/target.js";
import { openEnvironment } from "../environment.js";
import { contractCases, runContract } from "../testing/index.js";
import { escapeControls } from "../text/escape.js";
import { EXIT } from "./exit-codes.js";
import { writeJson, writeLine } from "./output.js";
import { version } from "./version.js";

interface DoctorOptions {
  readonly target?: string;
  readonly json?: boolean;
}

/** `glovebox doctor`: this machine, and the contract tried out on a live target. Exit 1 when a promise does not hold. */
export async function doctor(options: DoctorOptions): Promise<void> {
  const url = options.target ?? process.env.GLOVEBOX_TARGET;
  const here = { glovebox: version, node: process.version, platform: `${process.platform} ${process.arch}` };
  const found = url ? await examine(url) : undefined;
  const failed = found?.contract.filter((result) => result.outcome === "failed") ?? [];
  if (failed.length > 0) process.exitCode = EXIT.isError;
  if (options.json) return await writeJson({ ...here, ...found });
  const say = (text: string): Promise<void> => writeLine(process.stdout, escapeControls(text));
  await say(`glovebox ${here.glovebox} on node ${here.node}, ${here.platform}`);
  if (found === undefined) return await say("no target: add --target URL to examine one");
  const { description, capabilities, contract } = found;
  await say(`target: ${description.label} (${description.kind})`);
  await say(`isolation: ${description.isolation}`);
  for (const [name, value] of Object.entries({ ...description.facts, ...capabilities })) await say(`  ${name}: ${value}`);
  for (const warning of description.warnings) await say(`warning: ${warning}`);
  const passed = contract.filter((result) => result.outcome === "passed").length;
  const skipped = contract.length - passed - failed.length;
  await say(`contract: ${passed} promises hold, ${failed.length} do not, ${skipped} do not apply here`);
  for (const { name, reason } of failed) await say(`  broken: ${name}: ${reason}`);
}

async function examine(url: string) {
  const target = await resolveTarget(url);
  const open = (): Promise<Environment> => openEnvironment(target);
  await using environment = await open();
  const { capabilities } = environment;
  const description = await environment.describe();
  const results = await runContract({ open, cases: contractCases.filter((each) => each.quick) });
  const contract = results.map(({ name, outcome, reason, durationMs }) => ({ name, outcome, ...(reason && { reason }), durationMs }));
  return { description, capabilities, contract };
}
