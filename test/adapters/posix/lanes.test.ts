import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { LaneLost } from "../../../adapters/posix/lane.js";
import { firstLaneScript } from "../../../adapters/posix/library.js";
import { BOOT, openShLane } from "../../../adapters/posix/sh-lane.js";
import type { GloveboxEvent } from "../../../src/contract/events.js";
import { localTransport } from "./local-transport.js";
import { eventually, openPosix, outputOf, sleep } from "./open-posix.js";

async function bareLane() {
  const transport = localTransport();
  const lane = openShLane(await transport.start(["sh", "-c", BOOT, "glovebox"], { purpose: "lane" }), firstLaneScript());
  return { lane, pid: transport.started[0]?.pid ?? 0 };
}

const place = { verb: "place", arguments: ["/"], maxReplyBytes: 1000, idleMs: 20_000 };

describe("a lane", () => {
  it("answers in the order of the calls, many of them under way at once", async () => {
    const { lane } = await bareLane();
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) => lane.call({ ...place, arguments: [index % 2 === 0 ? "/" : "/usr"] })),
    );
    expect(answers.map(([frame]) => frame?.fields.toString())).toEqual(
      Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? "ok /" : "ok /usr")),
    );
    expect(lane.pending).toBe(0);
    lane.destroy(new Error("done") as never);
  });

  it("is lost when an answer is longer than it may be", async () => {
    const { lane } = await bareLane();
    const lost = await lane.call({ verb: "probe", arguments: [], maxReplyBytes: 10, idleMs: 20_000 }).catch((error: unknown) => error);
    expect(lost).toBeInstanceOf(LaneLost);
    expect((lost as LaneLost).reason.message).toContain("too long");
    expect(lane.alive).toBe(false);
  });

  it("is lost when it says nothing for too long, and what waited behind was not sent", async () => {
    const { lane, pid } = await bareLane();
    await lane.call(place);
    process.kill(pid, "SIGSTOP");
    const calls = Array.from({ length: 70 }, () => lane.call({ ...place, idleMs: 300 }).catch((error: unknown) => error as LaneLost));
    const lost = (await Promise.all(calls)) as readonly LaneLost[];
    expect(new Set(lost.map(({ reason }) => reason.code))).toEqual(new Set(["timeout"]));
    expect(lost.map(({ sent }) => sent)).toEqual(Array.from({ length: 70 }, (_, index) => index < 64));
    process.kill(pid, "SIGKILL");
  });

  it("S10 takes a login shell's greeting for nothing", async () => {
    const { connection, directory } = await openPosix({
      transport: { prefix: ["sh", "-c", 'echo "Welcome!"; echo "No mail." >&2; exec "$@"', "login"] },
    });
    await connection.writeFile(`${directory}/a`, Buffer.from("x"));
    expect(Buffer.from((await connection.readFile(`${directory}/a`)).data).toString()).toBe("x");
    expect(await outputOf(connection, "echo said")).toBe("said\n");
  });

  it("is replaced when it says what it was not asked, and the reading is repeated", async () => {
    const { connection, directory, transport } = await openPosix();
    await connection.writeFile(`${directory}/a`, Buffer.from("content"));
    for (let turn = 0; turn < 5; turn += 1) {
      const lane = transport.started.filter(({ purpose }) => purpose === "lane").at(-1)?.process;
      const reading = connection.readFile(`${directory}/a`);
      lane?.stdout?.emit("data", Buffer.from("stray bytes, longer than a marker is"));
      expect(Buffer.from((await reading).data).toString()).toBe("content");
      expect(Buffer.from((await connection.readFile(`${directory}/a`)).data).toString()).toBe("content");
    }
  });

  it("R04 is replaced when it is killed, which is not the loss of the target", async () => {
    const events: GloveboxEvent[] = [];
    const { connection, directory, transport } = await openPosix({ onEvent: (event) => events.push(event) });
    await connection.writeFile(`${directory}/a`, Buffer.from("x"));
    for (let turn = 0; turn < 3; turn += 1) {
      process.kill(transport.started.filter(({ purpose }) => purpose === "lane").at(-1)?.pid ?? 0, "SIGKILL");
      await sleep(turn * 20);
      expect((await connection.stat(`${directory}/a`)).size).toBe(1);
    }
    expect(events).toEqual([]);
  });

  it("P1 P4 killed at any moment leaves old or new bytes, and every call settles", async () => {
    const { connection, directory, transport } = await openPosix();
    const path = `${directory}/a.bin`;
    const contents = Array.from({ length: 4 }, (_, index) => randomBytes([4096, 300_000, 1_500_000, 3_000_000][index] ?? 1));
    await connection.writeFile(path, contents[0] ?? Buffer.of());
    const allowed = new Set(contents.map((bytes) => bytes.toString("base64")));
    const codes = new Map<string, number>();
    for (let turn = 0; turn < 30; turn += 1) {
      const data = contents[turn % contents.length] ?? Buffer.of();
      const write = connection.writeFile(path, data).then(
        () => "written",
        (error: { readonly code: string }) => error.code,
      );
      const read = connection.readFile(path).then(
        ({ data: bytes }) => (allowed.has(Buffer.from(bytes).toString("base64")) ? "whole" : "torn"),
        (error: { readonly code: string }) => error.code,
      );
      await sleep(Math.random() * 25);
      for (const { pid, purpose } of transport.started.slice(-3)) {
        try {
          if (purpose === "lane") process.kill(pid, "SIGKILL");
        } catch {
          // Dead already.
        }
      }
      const outcome = await write;
      codes.set(outcome, (codes.get(outcome) ?? 0) + 1);
      expect(["written", "unknown_outcome", "disconnected"]).toContain(outcome);
      expect(["whole", "disconnected"]).toContain(await read);
      const now = readFileSync(path);
      expect(allowed.has(now.toString("base64"))).toBe(true);
      if (outcome === "written") expect(now.equals(data)).toBe(true);
    }
    await connection.writeFile(path, Buffer.from("after all"));
    await connection.close();
    const { connection: next } = await openPosix({ cwd: directory });
    await next.writeFile(path, Buffer.from("swept"));
    await sleep(500);
    expect(readdirSync(directory)).toEqual(["a.bin"]);
    expect(codes.get("written") ?? 0).toBeGreaterThan(0);
  });
});

describe("spares", () => {
  it("one waits for the next command; where commands came too fast for that, up to `maxSpareLanes`", async () => {
    for (const [options, waiting] of [
      [{}, 1],
      [{ maxSpareLanes: 3 }, 3],
    ] as const) {
      const { connection, transport } = await openPosix(options);
      const commands = 6;
      const said = await Promise.all(Array.from({ length: commands }, (_, index) => outputOf(connection, `echo ${index}`)));
      expect(said).toEqual(Array.from({ length: commands }, (_, index) => `${index}\n`));
      const opened = (): number => transport.started.filter(({ purpose }) => purpose === "command").length;
      await eventually("they are opened", () => opened() === commands + waiting);
      await sleep(300);
      expect(opened()).toBe(commands + waiting);
    }
  });
});
