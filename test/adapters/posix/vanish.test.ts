import { randomUUID } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { LocalTransport } from "./local-transport.js";
import { eventually, openPosix, sleep } from "./open-posix.js";
import { pidsWith } from "./pids.js";
import { shells } from "./shells.js";

describe.each(Object.entries(shells))("%s, when our side vanishes", (_name, shell) => {
  it("P6 R02 ends what commands run, setsid, nohup, deaf and stopped ones included, and cleans up", async () => {
    const { connection, transport, directory } = await openPosix({ shell });
    const tag = randomUUID();
    const env = { VANISH_TAG: tag };
    await connection.writeFile(`${connection.spoolDirectory}/out`, Buffer.from("x"));
    await connection.exec("setsid sleep 300 >/dev/null 2>&1 & sleep 301 &", { env });
    let ready = false;
    const running = connection.exec(
      "trap '' TERM HUP; setsid sleep 302 & nohup sleep 303 & sleep 304 & kill -STOP $!; echo ready; sleep 305",
      {
        env,
        onOutput() {
          ready = true;
        },
      },
    );
    await eventually("it runs", () => ready && pidsWith(tag).length >= 6);
    transport.sever();
    const begun = performance.now();
    // The authority may still see it being killed.
    const outcome = await running.catch((error: { readonly code: string }) => error.code);
    expect([{ signal: "SIGKILL" }, "unknown_outcome"]).toContainEqual(outcome);
    await eventually("nothing is left", () => pidsWith(tag).length === 0, 20_000);
    expect(performance.now() - begun).toBeLessThan(20_000);
    await eventually("what was kept is gone", () => !existsSync(connection.spoolDirectory) && ownFiles(transport).length === 0);
    await expect(connection.readFile(`${directory}/a`)).rejects.toBeDefined();
  });
});

/** What lanes and spares of a transport still keep in our directory. */
function ownFiles({ started }: LocalTransport): readonly string[] {
  return readdirSync(`/tmp/.glovebox-${process.getuid?.() ?? 0}`).filter((name) =>
    started.some(({ pid }) => new RegExp(`^(lane|run)-[0-9a-f]{15}-${pid}\\b`).test(name)),
  );
}

describe("a lane that vanishes alone", () => {
  it("P8 leaves the commands of its connection running", async () => {
    const { connection, transport } = await openPosix({ maxFileLanes: 2 });
    const running = connection.exec("sleep 5; exit 7");
    await Promise.all(Array.from({ length: 60 }, () => connection.stat("/tmp")));
    const lanes = transport.started.filter(({ purpose }) => purpose === "lane");
    for (const stream of [lanes[0]?.process.stdin, lanes[0]?.process.stdout, lanes[0]?.process.stderr]) stream?.destroy();
    for (let turn = 0; turn < 8; turn += 1) {
      await sleep(500);
      await connection.stat("/tmp");
    }
    expect((await running).exitCode).toBe(7);
  });
});

describe("the shell that watches a command", () => {
  it("R04 killed alone takes the command with it, and the result says so", async () => {
    const { connection, transport } = await openPosix();
    const tag = randomUUID();
    const running = connection.exec("setsid sleep 300 & sleep 301", { env: { VANISH_TAG: tag } });
    await eventually("it runs", () => pidsWith(tag).length >= 2);
    process.kill(transport.started.find(({ purpose }) => purpose === "command")?.pid ?? 0, "SIGKILL");
    expect(await running).toEqual({ signal: "SIGKILL" });
    expect(pidsWith(tag)).toEqual([]);
  });

  it("P9 ending by itself before the command began never makes it a success", async () => {
    const { connection, transport } = await openPosix();
    await eventually("a spare waits", () => transport.started.some(({ purpose }) => purpose === "command"));
    await sleep(500);
    // The runner reads the end of stdin and ends, and so does all of the spare, while nobody here has noticed.
    transport.started.find(({ purpose }) => purpose === "command")?.process.stdin?.end();
    const outcome = await connection.exec("echo ran").then(
      (result) => result.exitCode,
      (error: { readonly code: string }) => error.code,
    );
    expect(["not_started", "unknown_outcome", 0]).toContain(outcome);
  });
});
