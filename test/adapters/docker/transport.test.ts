import { afterAll, beforeAll, expect, it } from "vitest";
import { connectEngine, type Engine } from "../../../adapters/docker/engine.js";
import { dockerTransport } from "../../../adapters/docker/transport.js";
import type { ProcessOutcome, RemoteProcess, Transport } from "../../../adapters/posix/transport.js";
import { startContainer, type TestContainer } from "../../support/containers.js";
import { describeTarget } from "../../support/describe-target.js";

interface Ended {
  readonly outcome: ProcessOutcome;
  readonly out: string;
  readonly err: string;
}

/** Reads all output until the streams close, and waits for the outcome. */
async function finish(process: RemoteProcess): Promise<Ended> {
  let [out, err] = ["", ""];
  process.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString("latin1");
  });
  process.stderr.on("data", (chunk: Buffer) => {
    err += chunk.toString("latin1");
  });
  const closed = Promise.all([process.stdout, process.stderr].map((stream) => new Promise((resolve) => stream.once("close", resolve))));
  const outcome = await process.outcome;
  // The outcome may come first; where a background child holds the pipes, the end does not come for long.
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 1_000))]);
  return { outcome, out, err };
}

/** The next chunk; by then the process has started. */
function firstOutput(process: RemoteProcess): Promise<string> {
  return new Promise((resolve) => process.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString())));
}

describeTarget("docker", "the transport", () => {
  let engine: Engine;
  let box: TestContainer;
  let transport: Transport;

  beforeAll(async () => {
    engine = connectEngine();
    box = await startContainer({ image: "glovebox/busybox" });
    transport = dockerTransport({ engine, containerId: box.id, label: "docker://box", user: "1000:1000", pausedWaitMs: 500 });
  });

  afterAll(async () => {
    await transport?.close();
    await box?.remove();
    engine?.close();
  });

  async function run(argv: readonly string[], input?: string): Promise<Ended> {
    const process = await transport.start(argv, { purpose: "command" });
    process.stdin.end(input);
    return await finish(process);
  }

  it("keeps stdout, stderr and the exit code apart", async () => {
    expect(await run(["sh", "-c", "echo out; echo err >&2; exit 3"])).toEqual({
      outcome: { kind: "exited", exitCode: 3 },
      out: "out\n",
      err: "err\n",
    });
  });

  it("hands argv over as it is, with no shell in between", async () => {
    const awkward = ["a b", "", "'\"$(id)`id`", "-n", "*", "\\", "é\n"];
    const { out } = await run(["printf", "<%s>", ...awkward]);
    expect(Buffer.from(out, "latin1").toString()).toBe(awkward.map((each) => `<${each}>`).join(""));
  });

  it("R33 a half-closed stdin loses no late output", async () => {
    const input = "x".repeat(1024 * 1024);
    expect((await run(["sh", "-c", "wc -c; echo late"], input)).out).toBe(`${input.length}\nlate\n`);
    expect((await run(["cat"], input)).out.length).toBe(input.length);
  });

  it("passes every byte, both ways", async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    const process = await transport.start(["sh", "-c", "tee /dev/stderr"], { purpose: "command" });
    process.stdin.end(bytes);
    const { out, err } = await finish(process);
    expect(out).toBe(bytes.toString("latin1"));
    expect(err).toBe(bytes.toString("latin1"));
  });

  it("is a lane: an answer for each request, for as long as stdin is open", async () => {
    const process = await transport.start(["sh"], { purpose: "lane" });
    for (const each of ["1", "2", "3"]) {
      const answer = firstOutput(process);
      process.stdin.write(`echo ${each}\n`);
      expect(await answer).toBe(`${each}\n`);
    }
    process.stdin.end();
    expect(await process.outcome).toEqual({ kind: "exited", exitCode: 0 });
  });

  it.each([
    ["a program that is not there", ["nosuchprogram"], "executable file not found"],
    ["a file that is no program", ["/etc/passwd"], "permission denied"],
  ])("%s is not_started, with the engine's reason and no output", async (_, argv, reason) => {
    for (let round = 0; round < 3; round += 1) {
      const { outcome, out, err } = await run(argv);
      expect({ out, err }).toEqual({ out: "", err: "" });
      expect(outcome).toMatchObject({ kind: "lost", error: { code: "not_started", retrySafe: true } });
      expect(outcome.kind === "lost" && outcome.error.message).toContain(reason);
    }
  });

  it("a user that is not there is not_started", async () => {
    const stranger = dockerTransport({ engine, containerId: box.id, label: "x", user: "nobody-of-that-name" });
    const process = await stranger.start(["true"], { purpose: "command" });
    expect((await finish(process)).outcome).toMatchObject({ kind: "lost", error: { code: "not_started" } });
  });

  it("a program that says the engine's own words, and exits like it, is not taken for the engine", async () => {
    const words = "OCI runtime exec failed: exec failed";
    for (const code of [126, 127]) {
      expect(await run(["sh", "-c", `printf '${words}\\r\\n'; exit ${code}`])).toEqual({
        outcome: { kind: "exited", exitCode: code },
        out: `${words}\r\n`,
        err: "",
      });
    }
  });

  it("refuses what the kernel would turn into an ordinary failure", async () => {
    for (const argv of [[], [""], ["echo", "a\0b"], ["echo", "x".repeat(128 * 1024)]]) {
      await expect(transport.start(argv, { purpose: "command" })).rejects.toMatchObject({ code: "invalid_argument" });
    }
    expect((await run(["sh", "-c", 'echo "${#1}"', "sh", "x".repeat(128 * 1024 - 1)])).out).toBe(`${128 * 1024 - 1}\n`);
  });

  it("R27 a background child that holds the pipes does not hold the outcome", async () => {
    const started = performance.now();
    const { outcome } = await run(["sh", "-c", "sleep 8 & exit 5"]);
    expect(outcome).toEqual({ kind: "exited", exitCode: 5 });
    expect(performance.now() - started).toBeLessThan(6_000);
  });

  it("a process that closes its output is not taken for one that ended", async () => {
    expect((await run(["sh", "-c", "exec >&- 2>&-; sleep 1; exit 6"])).outcome).toEqual({ kind: "exited", exitCode: 6 });
  });

  it("R04 a process killed from outside ends with the code for it", async () => {
    const process = await transport.start(["sh", "-c", "echo $$; exec sleep 60"], { purpose: "command" });
    const pid = (await firstOutput(process)).trim();
    await run(["kill", "-9", pid]);
    expect(await process.outcome).toEqual({ kind: "exited", exitCode: 137 });
  });

  it("destroy lets go, and the process that reads its stdin ends", async () => {
    const process = await transport.start(["sh", "-c", "cat; exit 9"], { purpose: "lane" });
    process.destroy();
    process.destroy();
    process.stdin.write("into the void");
    expect(await process.outcome).toEqual({ kind: "exited", exitCode: 9 });
  });

  it("a start whose signal has fired does not happen", async () => {
    const signal = AbortSignal.abort();
    await expect(transport.start(["true"], { purpose: "command", signal })).rejects.toMatchObject({ code: "aborted", retrySafe: true });
  });

  it("R11 waits for a paused container, then is busy; what runs is held and goes on", async () => {
    const process = await transport.start(["sh", "-c", "echo a; read -r line; sleep 1; echo b; exit 4"], { purpose: "command" });
    await firstOutput(process);
    process.stdin.end("go\n");
    await box.container.pause();
    await expect(transport.start(["true"], { purpose: "command" })).rejects.toMatchObject({ code: "busy", retrySafe: true });
    const waiting = transport.start(["true"], { purpose: "command" });
    await new Promise((resolve) => setTimeout(resolve, 100));
    await box.container.unpause();
    expect((await finish(await waiting)).outcome).toEqual({ kind: "exited", exitCode: 0 });
    expect(await finish(process)).toEqual({ outcome: { kind: "exited", exitCode: 4 }, out: "b\n", err: "" });
  });

  it("R12 a container that stops takes its processes along, and is back when it is started again", async () => {
    const process = await transport.start(["sh", "-c", "echo up; exec sleep 60"], { purpose: "lane" });
    await firstOutput(process);
    await box.container.stop({ t: 0 });
    expect(await process.outcome).toMatchObject({ kind: "lost", error: { code: "gone", retrySafe: false } });
    await expect(transport.start(["true"], { purpose: "lane" })).rejects.toMatchObject({ code: "gone", retrySafe: true });
    await box.container.start();
    expect((await run(["true"])).outcome).toEqual({ kind: "exited", exitCode: 0 });
  });

  it("R12 a start that a stop overtakes says so", async () => {
    const stopped = await transport.start(["sleep", "60"], { purpose: "lane" });
    await box.container.stop({ t: 0 });
    expect(await stopped.outcome).toMatchObject({ kind: "lost", error: { code: "gone" } });
    await box.container.start();
  });

  it("closing abandons what runs, at once", async () => {
    const other = dockerTransport({ engine, containerId: box.id, label: "x", user: "1000:1000" });
    const process = await other.start(["sleep", "60"], { purpose: "lane" });
    await other.close();
    expect(await process.outcome).toMatchObject({ kind: "lost", error: { code: "gone" } });
    await expect(other.start(["true"], { purpose: "lane" })).rejects.toMatchObject({ code: "gone" });
  });

  it("R12 a container that is removed is gone, for what runs and for what comes", async () => {
    const process = await transport.start(["sh", "-c", "echo up; exec sleep 60"], { purpose: "lane" });
    await firstOutput(process);
    await box.remove();
    expect(await process.outcome).toMatchObject({ kind: "lost", error: { code: "gone" } });
    const started = performance.now();
    await expect(transport.start(["true"], { purpose: "lane" })).rejects.toMatchObject({ code: "gone" });
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});
