import { describe, expect, it } from "vitest";
import { openPosix, sleep } from "./open-posix.js";

const MIB = 1024 * 1024;

describe("P15 memory stays bounded", () => {
  it("R25 under a flood on both streams, taken as fast as it comes", async () => {
    const { connection } = await openPosix();
    const begin = process.memoryUsage().rss;
    let peak = begin;
    let bytes = 0;
    await connection.exec("head -c 209715200 /dev/zero & head -c 104857600 /dev/zero >&2; wait", {
      onOutput(chunk) {
        bytes += chunk.byteLength;
        peak = Math.max(peak, process.memoryUsage().rss);
      },
    });
    expect(bytes).toBe(300 * MIB);
    expect(peak - begin).toBeLessThan(64 * MIB);
  });

  it("R25 under a flood that nobody takes, which then stands still on the target and can be killed", async () => {
    const { connection } = await openPosix();
    const begin = process.memoryUsage().rss;
    const controller = new AbortController();
    let chunks = 0;
    const run = connection.exec("yes", {
      signal: controller.signal,
      async onOutput() {
        chunks += 1;
        await sleep(300);
      },
    });
    await sleep(2000);
    controller.abort();
    await expect(run).rejects.toMatchObject({ code: "aborted" });
    expect(chunks).toBeLessThan(20);
    expect(process.memoryUsage().rss - begin).toBeLessThan(64 * MIB);
  });
});
