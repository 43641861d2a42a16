import { local } from "../../../adapters/local/index.js";
import { openEnvironment } from "../../../src/environment.js";

/*
 * One verb in a process of its own: ROOT VERB PATH [TEXT].
 */
const [root = "", verb = "", path = "", content = ""] = process.argv.slice(2);

const environment = await openEnvironment(local(root));
if (verb === "read") process.stdout.write((await environment.readFile(path)).data);
else await environment.writeFile(path, Buffer.from(content));
await environment.close();
