import { docker } from "../../../adapters/docker/index.js";
import type { OutputStream } from "../../../src/contract/operations.js";
import { openEnvironment } from "../../../src/environment.js";

/*
 * Runs a command that floods and says what arrived and by how much this process grew at most: LABELS COMMAND quick|slow|unread.
 */
const [labels = "{}", command = "", reader = ""] = process.argv.slice(2);
const environment = await openEnvironment(docker({ image: "glovebox/busybox", labels: JSON.parse(labels) as Record<string, string> }));
await environment.exec("true");
globalThis.gc?.();
const before = process.memoryUsage.rss();
let most = before;
const sampler = setInterval(() => {
  most = Math.max(most, process.memoryUsage.rss());
}, 5);
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
process.stdout.write(JSON.stringify({ exitCode, ...received, growthMib: (most - before) / 2 ** 20 }));
await environment.close();
