import type { Finding, Fleet } from "../fleet/index.js";
import { prometheusText } from "../fleet/metrics.js";
import { sleep } from "../fleet/patience.js";
import { escapeControls } from "../text/escape.js";
import { EXIT } from "./exit-codes.js";
import { type FleetChoice, withFleet } from "./fleet-choice.js";
import { engineGauges } from "./fleet-gauges.js";
import { sandboxCounts, sandboxTable } from "./fleet-table.js";
import { listenForInterruption } from "./interruption.js";
import { write, writeJson, writeLine } from "./output.js";
import { watch } from "./watch.js";

interface PsOptions extends FleetChoice {
  readonly json?: boolean;
  readonly watch?: boolean;
}

interface UserChoice extends FleetChoice {
  readonly tenant: string;
}

interface GcOptions extends FleetChoice {
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

const WATCH_MS = 2_000;

/** `glovebox ps`: users are known by their names' hashes, for nothing at the engine says more. */
export async function ps(options: PsOptions): Promise<void> {
  await withFleet(options, async (fleet, id) => {
    const print = async (): Promise<void> => {
      const sandboxes = await fleet.list();
      if (options.json) for (const sandbox of sandboxes) await writeJson(sandbox);
      else await write(process.stdout, sandboxTable(sandboxes, Date.now()));
    };
    if (!options.watch) return await print();
    const { signal, stop } = listenForInterruption("list");
    const frame = async (): Promise<string> => {
      const sandboxes = await fleet.list();
      return `${sandboxCounts(id, sandboxes)}\n\n${sandboxTable(sandboxes, Date.now())}`;
    };
    try {
      if (process.stdout.isTTY && !options.json) return await watch(process.stdout, frame, WATCH_MS, signal);
      for (; !signal.aborted; await sleep(WATCH_MS, signal)) await print();
    } finally {
      stop();
    }
  });
}

/** `glovebox fleet metrics`: Prometheus' text about what there is at the engine, whoever owns it. Changes nothing. */
export async function metrics(options: FleetChoice): Promise<void> {
  await withFleet(options, async (fleet, id) => {
    await write(process.stdout, prometheusText(id, engineGauges(await fleet.list(), await fleet.survey())));
  });
}

/** `glovebox stop KEY…`: exit 1 when one of them has no sandbox. */
export async function stop(keys: readonly string[], options: UserChoice): Promise<void> {
  await forEach(keys, options, "stopped", (fleet, key) => fleet.stop(key, { tenant: options.tenant }));
}

/** `glovebox rm KEY…`: exit 1 when one of them has no sandbox. */
export async function rm(keys: readonly string[], options: UserChoice): Promise<void> {
  await forEach(keys, options, "removed", (fleet, key) => fleet.destroy(key, { tenant: options.tenant }));
}

/** `glovebox gc`: what the fleet's processes do by themselves, for when none of them runs. */
export async function gc(options: GcOptions): Promise<void> {
  await withFleet(options, async (fleet) => {
    const found = options.dryRun ? await fleet.survey() : await fleet.reconcile();
    const done = found.filter(({ verdict }) => verdict !== "keep" && verdict !== "adopt");
    for (const { what, name, verdict, why } of done) {
      if (options.json) await writeJson({ what, name, verdict, why });
      else await writeLine(process.stdout, escapeControls(`${describe(verdict, options.dryRun === true)} ${what} ${name}: ${why}`));
    }
    if (done.length === 0 && !options.json) await writeLine(process.stdout, "nothing to do");
  });
}

function describe(verdict: Finding["verdict"], dryRun: boolean): string {
  if (verdict === "foreign") return "left alone:";
  const past = { remove: "removed", restore: "restored", unlock: "unlocked", keep: "kept", adopt: "left" }[verdict];
  return dryRun ? `would be ${past}:` : `${past}:`;
}

async function forEach(
  keys: readonly string[],
  options: UserChoice,
  done: string,
  act: (fleet: Fleet, key: string) => Promise<boolean>,
): Promise<void> {
  await withFleet(options, async (fleet) => {
    for (const key of keys) {
      const existed = await act(fleet, key);
      if (!existed) process.exitCode = EXIT.isError;
      await writeLine(process.stdout, escapeControls(existed ? `${done} ${key}` : `${key} has no sandbox`));
    }
  });
}
