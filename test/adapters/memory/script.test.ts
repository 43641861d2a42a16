import { describe, expect, it } from "vitest";
import { type Commands, memory } from "../../../adapters/memory/index.js";
import { openEnvironment } from "../../../src/environment.js";
import { collectOutput } from "./collect-output.js";

const open = (exec: Commands) => openEnvironment(memory({ exec, files: { "a.txt": "hello" } }));

describe("scripted commands", () => {
  it("answers by the exact text of the command", async () => {
    await using environment = await open({ "npm test": { stdout: "ok\n", stderr: "warn\n", exitCode: 1 }, true: {} });
    expect(await collectOutput(environment, "npm test")).toEqual({ stdout: "ok\n", stderr: "warn\n", exitCode: 1 });
    expect(await collectOutput(environment, "true")).toEqual({ stdout: "", stderr: "", exitCode: 0 });
  });

  it("ends a command that is not in the table with 127, also one named like a property of every object", async () => {
    await using environment = await open({});
    expect(await collectOutput(environment, "constructor")).toEqual({
      stdout: "",
      stderr: "constructor: no such command in this memory environment's script\n",
      exitCode: 127,
    });
  });

  it("hands a function the whole call, and lets it change files", async () => {
    await using environment = await open({
      build: ({ cwd, env, stdin, disk }) => {
        disk.put("dist/out.js", `built in ${cwd} for ${env.MODE} from ${new TextDecoder().decode(stdin)}`);
        return { stdout: Uint8Array.of(0, 255) };
      },
    });
    const chunks: number[] = [];
    const result = await environment.exec("build", {
      env: { MODE: "fast" },
      stdin: new TextEncoder().encode("input"),
      onOutput(chunk) {
        chunks.push(...chunk);
      },
    });
    expect([result, chunks]).toEqual([{ exitCode: 0 }, [0, 255]]);
    expect(environment.snapshot("dist")).toEqual({ "out.js": "built in /workspace for fast from input" });
  });

  it("takes one function for all commands", async () => {
    await using environment = await open(({ command }) => ({ stdout: command.toUpperCase() }));
    expect((await collectOutput(environment, "echo")).stdout).toBe("ECHO");
  });

  it("reports signals, background processes and want of memory as told", async () => {
    await using environment = await open({ die: { signal: "SIGKILL", outOfMemory: true }, serve: { background: [42] } });
    expect(await environment.exec("die")).toEqual({ signal: "SIGKILL", outOfMemory: true });
    expect(await environment.exec("serve")).toEqual({ exitCode: 0, background: [42] });
  });

  it("delivers output before a delay, which an abort ends", async () => {
    await using environment = await open({ slow: { stdout: "started\n", delayMs: 60_000 } });
    const controller = new AbortController();
    let seen = "";
    const run = environment.exec("slow", {
      signal: controller.signal,
      onOutput(chunk) {
        seen += new TextDecoder().decode(chunk);
        controller.abort(new DOMException("late", "TimeoutError"));
      },
    });
    await expect(run).rejects.toMatchObject({ code: "timeout" });
    expect(seen).toBe("started\n");
  });

  it("does not wait for a function that ignores its signal, and turns what one throws into an error", async () => {
    await using environment = await open({
      hang: () => new Promise(() => {}),
      broken: () => {
        throw new Error("oh");
      },
    });
    const controller = new AbortController();
    const run = environment.exec("hang", { signal: controller.signal });
    controller.abort();
    await expect(run).rejects.toMatchObject({ code: "aborted" });
    await expect(environment.exec("broken")).rejects.toMatchObject({ code: "unexpected" });
  });

  it("ends running commands when the environment closes", async () => {
    const environment = await open({ hang: { delayMs: Number.POSITIVE_INFINITY } });
    const run = environment.exec("hang");
    const failed = expect(run).rejects.toMatchObject({ code: "gone" });
    await environment.close();
    await failed;
  });

  it("refuses a working directory that is not there", async () => {
    await using environment = await open({ true: {} });
    await expect(environment.exec("true", { cwd: "missing" })).rejects.toMatchObject({ code: "not_started", retrySafe: true });
    await expect(environment.exec("true", { cwd: "a.txt" })).rejects.toMatchObject({ code: "not_started" });
  });

  it("M04 has no commands unless told, and none of this machine's ever", async () => {
    await using environment = await openEnvironment(memory());
    await expect(environment.exec("true")).rejects.toMatchObject({ code: "unsupported" });
    expect(environment.capabilities).toMatchObject({ exec: false, processes: false });
  });
});
