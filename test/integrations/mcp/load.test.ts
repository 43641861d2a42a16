import { afterEach, expect, it } from "vitest";
import { runLoad } from "../../../bench/mcp-load.js";
import { startContainer } from "../../support/containers.js";
import { describeTarget } from "../../support/describe-target.js";
import { closeAll, whenDone } from "./fixtures.js";
import { PROCESS_TOKEN, startHttp } from "./mcp-process.js";

afterEach(closeAll);

describeTarget("docker", "100 clients on one docker target", () => {
  it("read and edit for 10 s without an error, a lost edit or memory that grows and grows", async () => {
    const box = await startContainer();
    whenDone(() => box.remove());
    const server = await startHttp(["-t", `docker://${box.name}/workspace`, "--bash-timeout", "100"]);
    const outcome = await runLoad({ url: server.url, token: PROCESS_TOKEN, pid: server.pid, clients: 100, durationMs: 10_000 });
    const { calls, readMs, editMs, startMiB, highestMiB } = outcome;
    console.info(JSON.stringify({ calls, readMs, editMs, startMiB, highestMiB }));
    expect(outcome.errors).toEqual([]);
    expect(outcome.lostEdits).toBe(0);
    // Each of them got somewhere.
    expect(calls).toBeGreaterThanOrEqual(200);
    expect(highestMiB).toBeLessThan(startMiB + 256);
    expect(await server.end()).toBe(0);
  });
});
