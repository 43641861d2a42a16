import { writeSync } from "node:fs";
import { writeFile } from "node:fs/promises";
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
if (how === "naive") {
  // All of its time goes into writing.
  const versions = [1, 2, 3].map((version) => versionOf(version, Number(bytes)));
  writeSync(1, "1\n");
  for (;;) for (const data of versions) await writeFile(join(root, file), data);
}
for (let version = 1; ; version += 1) {
  await environment.writeFile(file, versionOf(version, Number(bytes)));
  writeSync(1, `${version}\n`);
}
