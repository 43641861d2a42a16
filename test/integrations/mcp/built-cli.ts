import { existsSync } from "node:fs";
import { copyFile, mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runCommand } from "../../support/run-command.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const prefix = "built-cli-";

let main: Promise<string> | undefined;

/**
 * The command line, built: it starts in a third of the time that it takes from its source. The package's own build, which
 * `npm test` begins with, unless a source is newer; then one build serves all test files of a run, which have the runner for
 * a parent. What earlier runs left behind is removed.
 */
export function builtCli(): Promise<string> {
  main ??= find();
  return main;
}

async function find(): Promise<string> {
  const published = join(root, "dist/cli/main.js");
  const builtMs = existsSync(published) ? (await stat(published)).mtimeMs : 0;
  return (await newestMs()) < builtMs ? published : await build();
}

/** When a source of the package was last written. */
async function newestMs(): Promise<number> {
  const sources = ["package.json", "tsdown.config.ts"];
  for (const folder of ["src", "adapters"]) {
    for (const name of await readdir(join(root, folder), { recursive: true })) sources.push(join(folder, name));
  }
  const modifiedMs = (name: string) =>
    stat(join(root, name)).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    );
  return Math.max(...(await Promise.all(sources.map(modifiedMs))));
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
    const words = ["--out-dir", `${home}/dist`, "--no-dts", "--logLevel", "error"];
    await runCommand(process.execPath, [`${root}/node_modules/tsdown/dist/run.mjs`, ...words]);
    await writeFile(ready, "");
  }
  for (let waitedMs = 0; !existsSync(ready); waitedMs += 50) {
    if (waitedMs > 120_000) throw new Error(`${home} was not built by the process that began it. Remove it and run the tests again.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return `${home}/dist/cli/main.js`;
}
