import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Environment } from "../../../src/index.js";
import { codeOf, open, run, targetFor, text } from "../../adapters/ssh/scene.js";
import { describeTarget } from "../../support/describe-target.js";
import { type Direction, type LinkProxy, startProxy } from "../../support/proxy.js";
import { type SshServer, startSshd } from "../../support/sshd.js";
import { seededRandom, trials } from "../local/trials.js";
import { versionIn, versionOf } from "../local/versions.js";

const LINKS = 3;
const SIZES = [4096, 100_000, 3_000_000];
/** What may be said of a call whose link was cut; never success, unless it was one. */
const CUT = ["disconnected", "unknown_outcome", "not_started", "timeout"];

interface Lane {
  readonly environment: Environment;
  readonly proxy: LinkProxy;
  readonly name: string;
}

describeTarget("ssh", `R15 a link that is reset after any byte (${trials} times each)`, () => {
  let server: SshServer;
  const random = seededRandom();
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random.next() * items.length)] as Item;
  beforeAll(async () => {
    server = await startSshd();
    console.log(`FAULTS_SEED=${random.seed}`);
  });
  afterAll(async () => {
    await server?.stop();
  });

  /** Runs the trials over several links at once. After each, the same environment works as before (P5). */
  async function overLinks(one: (lane: Lane, trial: number) => Promise<void>): Promise<void> {
    let trial = 0;
    const link = async (_: unknown, index: number): Promise<void> => {
      await using proxy = await startProxy(server);
      const environment = await open(targetFor(server, proxy));
      while (trial < trials) {
        trial += 1;
        const mine = trial;
        await one({ environment, proxy, name: `link-${index}` }, mine);
        proxy.restore();
        expect(await codeOf(environment.stat("."))).toContain("resolved");
      }
      await environment.close();
    };
    await Promise.all(Array.from({ length: LINKS }, link));
  }

  function cutSomewhere(proxy: LinkProxy, bytes: number): void {
    const direction: Direction = random.next() < 0.5 ? "toServer" : "toClient";
    void proxy.cutAfter(1 + Math.floor(random.next() * bytes), direction);
  }

  it("P1 P2 a write is there as a whole or not at all, and said to be only when it is", { timeout: 120_000 + trials * 8_000 }, async () => {
    await overLinks(async ({ environment, proxy, name }, trial) => {
      const size = pick(SIZES);
      const path = `${name}-${size}`;
      await environment.writeFile(path, versionOf(0, size));
      cutSomewhere(proxy, size * 1.2 + 300);
      const outcome = await codeOf(environment.writeFile(path, versionOf(trial, size)));
      const now = versionIn(await readFile(join(server.workspace, path)), size);
      expect([0, trial], `torn, trial ${trial}: ${outcome}`).toContain(now);
      if (outcome.startsWith("resolved")) expect(now).toBe(trial);
      else expect(CUT).toContain(outcome);
    });
  });

  it("P10 a read brings what is there, or an error", { timeout: 120_000 + trials * 8_000 }, async () => {
    await overLinks(async ({ environment, proxy, name }, trial) => {
      const size = pick(SIZES);
      const path = `${name}-read-${size}`;
      await environment.writeFile(path, versionOf(trial, size));
      cutSomewhere(proxy, size * 1.2 + 300);
      const read = await environment.readFile(path).catch((error: { readonly code: string }) => error.code);
      if (typeof read === "string") expect(CUT).toContain(read);
      else expect(versionIn(read.data, size)).toBe(trial);
    });
  });

  it("P3 P9 a command runs once at most, and is a success only when it was", { timeout: 120_000 + trials * 8_000 }, async () => {
    await overLinks(async ({ environment, proxy, name }, trial) => {
      const journal = `${name}-journal-${trial}`;
      let received = "";
      cutSomewhere(proxy, 60_000);
      const command = `echo ran >>"$JOURNAL"; head -c 50000 /dev/zero | tr '\\0' x; exit 3`;
      const running = environment.exec(command, {
        env: { JOURNAL: join(server.workspace, journal) },
        onOutput: (chunk) => {
          received += text(chunk);
        },
      });
      const outcome = await codeOf(running);
      const runs = (await readFile(join(server.workspace, journal), "utf8").catch(() => "")).split("\n").length - 1;
      expect("x".repeat(50_000).startsWith(received), "what was delivered is the beginning of the output").toBe(true);
      if (outcome.startsWith("resolved")) expect([outcome, runs, received.length]).toEqual(['resolved: {"exitCode":3}', 1, 50_000]);
      else {
        expect(CUT).toContain(outcome);
        expect(runs).toBeLessThanOrEqual(outcome === "not_started" ? 0 : 1);
      }
    });
  });
});

describeTarget("ssh", "R17 a link that is slow, uneven and in crumbs", () => {
  it("P10 carries every byte, and holds every deadline", { timeout: 180_000 }, async () => {
    await using server = await startSshd();
    const check = async (proxy: LinkProxy, bytes: number): Promise<void> => {
      const environment = await open(targetFor(server, proxy));
      const name = `r17-${proxy.port}`;
      await environment.writeFile(name, versionOf(7, bytes));
      expect(versionIn((await environment.readFile(name)).data, bytes)).toBe(7);
      const counted = await run(environment, "for i in 1 2 3; do echo $i; sleep 0.1; done; exit 5");
      expect(counted).toEqual({ output: "1\n2\n3\n", exitCode: 5 });
      await environment.close();
    };
    await using crumbs = await startProxy(server, { slice: { minBytes: 1, maxBytes: 7 }, seed: 3 });
    await using narrow = await startProxy(server, { bytesPerSecond: 8_000 });
    await using uneven = await startProxy(server, { rttMs: 200 });
    let wobbling = true;
    const wobble = (async () => {
      for (let turn = 0; wobbling; turn += 1) {
        uneven.shape({ rttMs: (turn * 97) % 400 });
        await new Promise((resolve) => setTimeout(resolve, 40));
      }
    })();
    // The narrow one takes longer for its file than a silent link is given: what arrives counts as a sign of life.
    await Promise.all([check(crumbs, 60_000), check(narrow, 120_000), check(uneven, 300_000)]);
    wobbling = false;
    await wobble;
  });

  it("a greeting that drips is given up on, and says so", { timeout: 60_000 }, async () => {
    await using server = await startSshd();
    await using drip = await startProxy(server, { bytesPerSecond: 1 });
    const started = performance.now();
    await expect(targetFor(server, drip).connect({ signal: AbortSignal.timeout(4_000) })).rejects.toMatchObject({ code: "timeout" });
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});
