import { local } from "../../../adapters/local/index.js";
import { openEnvironment } from "../../../src/environment.js";

/*
 * One command in a process of its own: ROOT COMMAND. Its output is ours.
 */
const [root = "", command = ""] = process.argv.slice(2);
const environment = await openEnvironment(local(root));
const result = await environment.exec(command, {
  onOutput(chunk, stream) {
    (stream === "stdout" ? process.stdout : process.stderr).write(chunk);
  },
});
await environment.close();
process.exitCode = result.exitCode ?? 1;
