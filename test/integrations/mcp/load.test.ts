import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { runLoad } from "../../../bench/mcp-load.js";
import { startContainer } from "../../support/containers.js";
import { describeTarget } from "../../support/describe-target.js";
import type { TargetName } from "../../support/targets.js";
import { closeAll, whenDone } from "./fixtures.js";
import { PROCESS_TOKEN, startHttp } from "./mcp-process.js";

afterEach(closeAll);

const PLACES: readonly { readonly name: TargetName; url(): Promise<string> }[] = [
  {
    name: "local",
    async url() {
      const directory = await mkdtemp(join(tmpdir(), "glovebox-load-"));
      whenDone(() => rm(directory, { recursive: true, force: true }));
      return `local:${directory}`;
    },
  },
  {
    name: "docker",
    async url() {
      const box = await startContainer();
      whenDone(() => box.remove());
      return `docker://${box.name}/workspace`;
    },
  },
];

for (const { name, url } of PLACES) {
  describeTarget(name, `100 clients on one ${name} target`, () => {
    it("read and edit for 10 s without an error, a lost edit or memory that grows and grows", async () => {
      const server = await startHttp(["-t", await url(), "--bash-timeout", "100"]);
      const outcome = await runLoad({ url: server.url, token: PROCESS_TOKEN, pid: server.pid, clients: 100, durationMs: 10_000 });
      expect(outcome.errors).toEqual([]);
      expect(outcome.lostEdits).toBe(0);
      expect(outcome.calls).toBeGreaterThan(200);
      expect(outcome.highestMiB).toBeLessThan(outcome.startMiB + 256);
      expect(await server.end()).toBe(0);
    });
  });
}
