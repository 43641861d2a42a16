import { writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { local } from "../../../adapters/local/index.js";
import { openEnvironment } from "../../../src/environment.js";
import { versionOf } from "./versions.js";

/*
 * Writes version after version of a file until it is killed, and says each one that was acknowledged: ROOT FILE BYTES ours|naive.
 */
const [root = "", file = "", bytes = "0", how = ""] = process.argv.slice(2);
const environment = await openEnvironment(local(root));
writeSync(1, "ready\n");
for (let version = 1; ; version += 1) {
  const data = versionOf(version, Number(bytes));
  if (how === "ours") await environment.writeFile(file, data);
  else writeFileSync(join(root, file), data);
  writeSync(1, `${version}\n`);
}
