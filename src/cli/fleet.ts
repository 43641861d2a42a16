import { resolveProvisioner } from "../../adapters/index.js";
import { createFleet, type Finding, type Fleet, type ListedSandbox } from "../fleet/index.js";
import { escapeControls } from "../text/escape.js";
import { EXIT } from "./exit-codes.js";
import { UsageError, write, writeJson, writeLine } from "./output.js";

interface FleetChoice {
  readonly fleet?: string;
  readonly host?: string;
}

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
const CLEAR = "\u001b[H\u001b[2J";

/** `glovebox ps`: users are known by their names' hashes, for nothing at the engine says more. */
export async function ps(options: PsOptions): Promise<void> {
  await withFleet(options, async (fleet) => {
    do {
      const sandboxes = await fleet.list();
      if (options.json) for (const sandbox of sandboxes) await writeJson(sandbox);
      else await write(process.stdout, `${options.watch && process.stdout.isTTY ? CLEAR : ""}${table(sandboxes, Date.now())}`);
      if (options.watch) await new Promise((resolve) => setTimeout(resolve, WATCH_MS));
    } while (options.watch);
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

async function withFleet(options: FleetChoice, work: (fleet: Fleet) => Promise<void>): Promise<void> {
  const id = options.fleet ?? process.env.GLOVEBOX_FLEET;
  const secret = process.env.GLOVEBOX_FLEET_SECRET;
  if (!id) throw new UsageError("which fleet? Name it with --fleet, or set GLOVEBOX_FLEET");
  if (!secret) throw new UsageError("the fleet's secret is missing: set GLOVEBOX_FLEET_SECRET to the one its processes have");
  const provisioner = await resolveProvisioner(options.host);
  try {
    await using fleet = createFleet({ provisioner, id, secret, attend: false });
    await work(fleet);
  } finally {
    await provisioner.close();
  }
}

function table(sandboxes: readonly ListedSandbox[], now: number): string {
  const rows = sandboxes.map(({ name, state, owner, createdMs }) => [
    name,
    state,
    owner === "nobody" ? "-" : "a live process",
    age(now - createdMs),
  ]);
  const all = [["SANDBOX", "STATE", "OWNER", "AGE"], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}

function age(timeMs: number): string {
  const minutes = Math.max(0, Math.floor(timeMs / 60_000));
  return minutes < 60 ? `${minutes}m` : minutes < 60 * 48 ? `${Math.floor(minutes / 60)}h` : `${Math.floor(minutes / 60 / 24)}d`;
}
