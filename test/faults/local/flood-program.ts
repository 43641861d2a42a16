import { monitorEventLoopDelay } from "node:perf_hooks";
import { local } from "../../../adapters/local/index.js";
import type { OutputStream } from "../../../src/contract/operations.js";
import { openEnvironment } from "../../../src/environment.js";

/*
 * Runs a command that floods and says what arrived and by how much this process grew at most: ROOT COMMAND quick|slow|unread.
 */
const [root = "", command = "", reader = ""] = process.argv.slice(2);
const environment = await openEnvironment(local(root));
await environment.exec("true");
globalThis.gc?.();
const before = process.memoryUsage.rss();
let most = before;
const sampler = setInterval(() => {
  most = Math.max(most, process.memoryUsage.rss());
}, 5);
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();

const received: Record<OutputStream, number> = { stdout: 0, stderr: 0 };
let chunks = 0;
const count = (chunk: Uint8Array, stream: OutputStream): void => {
  received[stream] += chunk.byteLength;
  chunks += 1;
};
const slowly = async (chunk: Uint8Array, stream: OutputStream): Promise<void> => {
  count(chunk, stream);
  if (chunks % 64 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
};
const { exitCode } = await environment.exec(command, reader === "unread" ? {} : { onOutput: reader === "slow" ? slowly : count });
clearInterval(sampler);
most = Math.max(most, process.memoryUsage.rss());
process.stdout.write(JSON.stringify({ exitCode, ...received, growthMib: (most - before) / 2 ** 20, lagP99Ms: delay.percentile(99) / 1e6 }));
await environment.close();
