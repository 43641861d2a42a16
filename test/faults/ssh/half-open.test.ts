import { expect, it } from "vitest";
import { codeOf, eventually, newTag, open, targetFor } from "../../adapters/ssh/scene.js";
import { describeTarget } from "../../support/describe-target.js";
import { startProxy } from "../../support/proxy.js";
import { startSshd } from "../../support/sshd.js";

/** Fewer than of other faults, all at once: each takes as long as the patience with a silent link. */
const LINKS = 3;
/** What the adapter promises: a dead link is noticed, and what is left behind one is ended. */
const NOTICED_MS = 20_000;
const ENDED_MS = 60_000;

describeTarget("ssh", "R16 a link on which nothing passes any more, and nobody is told", () => {
  it(`settles every call within ${NOTICED_MS} ms, and leaves nothing on the host for longer than ${ENDED_MS} ms`, {
    timeout: 150_000,
  }, async () => {
    await using server = await startSshd();
    const one = async (): Promise<void> => {
      await using proxy = await startProxy(server);
      const environment = await open(targetFor(server, proxy));
      await environment.writeFile("kept", Buffer.from("old"));
      const { env, survivors } = newTag();
      const pending = [codeOf(environment.exec("setsid sleep 600 & nohup sleep 601 & sleep 602", { env }))];
      await eventually("the command runs", async () => (await survivors()).length >= 4);
      proxy.blackhole();
      const since = performance.now();
      pending.push(
        codeOf(environment.readFile("kept")),
        codeOf(environment.exec("true")),
        codeOf(environment.writeFile("new", Buffer.from("x"))),
      );
      const settled = await Promise.all(pending.map(async (each) => ({ code: await each, ms: performance.now() - since })));
      const [running, ...others] = settled;
      expect(running?.code).toBe("unknown_outcome");
      for (const { code } of others) expect(["disconnected", "timeout", "unknown_outcome", "not_started"]).toContain(code);
      for (const { ms } of settled) expect(ms).toBeLessThan(NOTICED_MS);
      // The link stays dead: only the host itself can end what it runs.
      await eventually("nothing is left", async () => (await survivors()).length === 0, ENDED_MS + 10_000 - (performance.now() - since));
    };
    await Promise.all(Array.from({ length: LINKS }, one));
  });
});
