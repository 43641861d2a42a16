import type { TestProject } from "vitest/node";
import { ensurePackages, MissingPackages, runScript } from "./packages.js";
import { claimRun } from "./run-identity.js";
import { sweepScratch } from "./scratch.js";
import { selectTargets, type TargetName, type TargetState, type TargetStates, targetNames } from "./targets.js";

declare module "vitest" {
  interface ProvidedContext {
    readonly targets: TargetStates;
  }
}

const isCi = process.env.CI === "true" || process.env.CI === "1";
const startedSeconds = Math.floor(Date.now() / 1000);
let run = "";
let usesEngine = false;

/**
 * Makes ready what the targets in TARGETS (all by default) need: packages on a bare Debian machine, a Docker engine,
 * images, an account to log in to. What cannot be had is a visible skip with its reason; in CI it fails the run.
 */
export async function setup(project: TestProject): Promise<void> {
  const selected = selectTargets(process.env.TARGETS);
  run = claimRun();
  const states: Partial<Record<TargetName, TargetState>> = {};
  for (const name of targetNames) {
    states[name] = selected.has(name) ? await prepare(name) : { ready: false, reason: "not in TARGETS" };
  }
  project.provide("targets", states as TargetStates);
}

async function prepare(name: TargetName): Promise<TargetState> {
  try {
    await ensurePackages(name).catch((error: unknown) => {
      if (isCi || !(error instanceof MissingPackages) || error.required) throw error;
      console.warn(`${name}: ${error.message}; the tests that need it are skipped`);
    });
    if (name === "docker") await prepareDocker();
    if (name === "ssh") await (await import("./account.js")).ensureAccount();
    return { ready: true };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const others = targetNames.filter((each) => each !== name).join(",");
    if (isCi) throw new Error(`the target ${name} is not to be had: ${reason}\nTo do without: TARGETS=${others} npm test`);
    console.warn(`skipped, ${name}: ${reason}`);
    return { ready: false, reason };
  }
}

async function prepareDocker(): Promise<void> {
  process.env.DOCKER_HOST = await runScript("ensure-engine.sh", ["--for", String(process.pid)]);
  usesEngine = true;
  // Its reaper is an image from a registry; the sweep at the end takes its place.
  process.env.TESTCONTAINERS_RYUK_DISABLED = "true";
  await runScript("build-images.sh");
  const { engineClient, sweepEngine } = await import("./sweep.js");
  await sweepEngine(engineClient(), undefined);
}

export async function teardown(): Promise<void> {
  await sweepScratch();
  if (!usesEngine) return;
  const { engineClient, sweepEngine, sweepOrphans } = await import("./sweep.js");
  await sweepEngine(engineClient(), run);
  const orphans = process.platform === "linux" ? await sweepOrphans(engineClient(), startedSeconds) : [];
  if (orphans.length > 0) console.warn(`containers whose owner ended without removing them: ${orphans.join(", ")}`);
  await runScript("ensure-engine.sh", ["--release", String(process.pid)]);
}
