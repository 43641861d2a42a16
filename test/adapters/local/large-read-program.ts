import { local } from "../../../adapters/local/index.js";
import { openEnvironment } from "../../../src/environment.js";

/*
 * Reads the last line of ROOT/large and says by how much the process grew at most.
 */
const [root = ""] = process.argv.slice(2);
const environment = await openEnvironment(local(root));
const before = process.memoryUsage.rss();
let most = before;
const timer = setInterval(() => {
  most = Math.max(most, process.memoryUsage.rss());
}, 10);
const { data, totalLines, size } = await environment.readFile("large", { lines: { start: 3, count: 10 } });
clearInterval(timer);
most = Math.max(most, process.memoryUsage.rss());
process.stdout.write(JSON.stringify({ line: Buffer.from(data).toString(), totalLines, size, growthMib: (most - before) / 2 ** 20 }));
await environment.close();
