import { existsSync } from "node:fs";
import { copyFile, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { runCommand } from "../../support/run-command.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const prefix = "built-cli-";

let main: Promise<string> | undefined;

/**
 * The command line, built: it starts in a third of the time that it takes from its source. One build serves all test files
 * of a run, which have the runner for a parent; what earlier runs left behind is removed.
 */
export function builtCli(): Promise<string> {
  main ??= build();
  return main;
}

async function build(): Promise<string> {
  await mkdir(`${root}/.cache`, { recursive: true });
  for (const name of await readdir(`${root}/.cache`)) {
    if (name.startsWith(prefix) && !existsSync(`/proc/${name.slice(prefix.length)}`))
      await rm(`${root}/.cache/${name}`, { recursive: true, force: true });
  }
  const home = `${root}/.cache/${prefix}${process.ppid}`;
  const ready = `${home}/ready`;
  const mine = await mkdir(home).then(
    () => true,
    () => false,
  );
  if (mine) {
    await copyFile(`${root}/package.json`, `${home}/package.json`);
    await runCommand(process.execPath, [
      `${root}/node_modules/tsdown/dist/run.mjs`,
      "--out-dir",
      `${home}/dist`,
      "--no-dts",
      "--logLevel",
      "error",
    ]);
    await writeFile(ready, "");
  }
  for (let waitedMs = 0; !existsSync(ready); waitedMs += 50) {
    if (waitedMs > 120_000) throw new Error(`${home} was not built by the process that began it. Remove it and run the tests again.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return `${home}/dist/cli/main.js`;
}
