import { ssh } from "../../../adapters/ssh/index.js";
import type { OutputStream } from "../../../src/contract/operations.js";
import { openEnvironment } from "../../../src/environment.js";

/*
 * Runs a command that floods, and says what arrived and by how much this process grew at most: OPTIONS (JSON) COMMAND quick|slow|unread.
 */
const [options = "{}", command = "", reader = ""] = process.argv.slice(2);
const environment = await openEnvironment(ssh(JSON.parse(options)));
await environment.exec("head -c 10M /dev/zero", { onOutput: () => undefined });
globalThis.gc?.();
const before = process.memoryUsage.rss();
let most = before;
const sampler = setInterval(() => {
  most = Math.max(most, process.memoryUsage.rss());
}, 10);
const received: Record<OutputStream, number> = { stdout: 0, stderr: 0 };
let chunks = 0;
const count = (chunk: Uint8Array, stream: OutputStream): void => {
  received[stream] += chunk.byteLength;
  chunks += 1;
};
const slowly = async (chunk: Uint8Array, stream: OutputStream): Promise<void> => {
  count(chunk, stream);
  if (chunks % 32 === 0) await new Promise((resolve) => setTimeout(resolve, 2));
};
const { exitCode } = await environment.exec(command, reader === "unread" ? {} : { onOutput: reader === "slow" ? slowly : count });
clearInterval(sampler);
process.stdout.write(JSON.stringify({ exitCode, ...received, growthMib: (Math.max(most, process.memoryUsage.rss()) - before) / 2 ** 20 }));
await environment.close();
