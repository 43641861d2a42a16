import { afterEach, describe, expect, it, vi } from "vitest";
import { abortError, GloveboxError } from "../../src/contract/errors.js";
import type { BashOperations, ExecOptions, ExecResult } from "../../src/contract/operations.js";
import { bindTool } from "../../src/contract/tool.js";
import { bashTool } from "../../src/tools/bash.js";
import { call, openMemory } from "./support.js";

/** A command that prints, then ends. */
function prints(output: string, result: ExecResult = { exitCode: 0 }): BashOperations {
  return {
    async exec(_, options) {
      if (output !== "") await options?.onOutput?.(Buffer.from(output), "stdout");
      return result;
    },
  };
}

/** A command that prints and then runs until it is aborted. */
function hangs(output: string): BashOperations {
  return {
    async exec(_, options) {
      if (output !== "") await options?.onOutput?.(Buffer.from(output), "stdout");
      return await new Promise<never>((_resolve, reject) => {
        const leave = (): void => reject(abortError(options?.signal as AbortSignal, { verb: "exec" }));
        if (options?.signal?.aborted) leave();
        else options?.signal?.addEventListener("abort", leave);
      });
    },
  };
}

const bash = (operations: BashOperations, parameters: object = {}, options = {}) =>
  call(bindTool(bashTool, operations), { command: "run", ...parameters }, options);

afterEach(() => {
  vi.useRealTimers();
});

describe("bash, ended by itself", () => {
  it("shows what it printed", async () => {
    const { text, isError, details } = await bash(prints("one\ntwo\n"));
    expect(text).toBe("one\ntwo");
    expect(isError).toBe(false);
    expect(details).toEqual({ exitCode: 0, outputBytes: 8 });
  });

  it("B01 says that nothing was printed", async () => {
    expect((await bash(prints(""))).text).toBe("(no output)");
    expect((await bash(prints("\n"))).text).toBe("(no output)");
  });

  it.each<[string, ExecResult, string]>([
    ["exit 1", { exitCode: 1 }, "Exit code 1. Look at the output for the reason before you run it again."],
    ["exit 126", { exitCode: 126 }, "Exit code 126. The command was found but could not be run: check its permissions and its first line."],
    ["exit 127", { exitCode: 127 }, "Exit code 127. A command was not found on the target: check its name, or install it."],
    ["exit 255", { exitCode: 255 }, "Exit code 255. Look at the output for the reason before you run it again."],
    [
      "B17 exit 137",
      { exitCode: 137 },
      "Exit code 137: killed by a signal, SIGKILL (128 + 9). Something killed it outright, often for using too much memory: check what it needs, and try with less.",
    ],
    [
      "B17 exit 139",
      { exitCode: 139 },
      "Exit code 139: killed by a signal, SIGSEGV (128 + 11). It crashed on a bad memory access: look at its input, or run it under a debugger.",
    ],
    [
      "B17 exit 143",
      { exitCode: 143 },
      "Exit code 143: killed by a signal, SIGTERM (128 + 15). Find out what sent that signal before you run it again.",
    ],
    [
      "B17 a signal seen",
      { signal: "SIGXFSZ" },
      "Killed by a signal: SIGXFSZ. It wrote a file larger than it may: write less, or raise ulimit -f.",
    ],
    [
      "R10 out of memory",
      { exitCode: 137, outOfMemory: true },
      "Exit code 137: killed by a signal, SIGKILL (128 + 9). The target ran out of memory and killed it, or something it started: use less, or give the target more.",
    ],
    ["neither", {}, "It ended without an exit code. Look at the output for the reason before you run it again."],
  ])("%s is an error that keeps the output and names the cause", async (_, result, ending) => {
    const { text, isError, details } = await bash(prints("so far\n", result));
    expect(text).toBe(`so far\n\n${ending}`);
    expect(isError).toBe(true);
    expect(details).not.toHaveProperty("error");
    expect((await bash(prints("", result))).text).toBe(ending);
  });

  it("has the facts as data", async () => {
    expect((await bash(prints("", { exitCode: 137, outOfMemory: true }))).details).toEqual({
      exitCode: 137,
      signal: "SIGKILL",
      outOfMemory: true,
      outputBytes: 0,
    });
    expect((await bash(prints("", { signal: "SIGSEGV" }))).details).toEqual({ signal: "SIGSEGV", outputBytes: 0 });
  });

  it("B08 says what still runs in the background", async () => {
    const { text, isError, details } = await bash(prints("ok\n", { exitCode: 0, background: [4711, 4712] }));
    expect(text).toBe("ok\n\n[Still running in the background: 2 processes, pids 4711 and 4712. Stop with: kill 4711 4712]");
    expect(isError).toBe(false);
    expect(details).toMatchObject({ background: [4711, 4712] });
    expect((await bash(prints("", { exitCode: 3, background: [7] }))).text).toBe(
      "Exit code 3. Look at the output for the reason before you run it again.\nStill running in the background: 1 process, pid 7. Stop with: kill 7",
    );
  });

  it("R10 says that something was killed for want of memory even when the command went on", async () => {
    const { text, isError } = await bash(prints("done\n", { exitCode: 0, outOfMemory: true }));
    expect(text).toBe("done\n\n[The target ran out of memory and killed it, or something it started: use less, or give the target more.]");
    expect(isError).toBe(false);
  });

  it("shows what is not UTF-8 as U+FFFD, and says so", async () => {
    const exec = async (_: string, options?: ExecOptions): Promise<ExecResult> => {
      await options?.onOutput?.(Uint8Array.of(0x61, 0xff), "stderr");
      return { exitCode: 0 };
    };
    expect((await bash({ exec })).text).toBe(
      "a\ufffd\n\n[Some bytes are not UTF-8 and show as U+FFFD. To see them, pipe the command into od -c.]",
    );
  });
});

describe("bash, ended by us", () => {
  it("times out as an error that keeps the output", async () => {
    const { text, isError, details } = await bash(hangs("so far\n"), { timeout: 0.05 });
    expect(text).toBe(
      "so far\n\nTimed out after 0.05 seconds; the command and everything it started were killed. Give it a longer timeout, or make it do less.",
    );
    expect(isError).toBe(true);
    expect(details).toMatchObject({ timedOut: true, outputBytes: 7, error: { code: "timeout", verb: "exec" } });
  });

  it("is aborted as an error that keeps the output", async () => {
    const controller = new AbortController();
    const running = bash(hangs("so far\n"), { timeout: 60 }, { signal: controller.signal });
    controller.abort();
    const { text, isError, details } = await running;
    expect(text).toBe(
      "so far\n\nThe call was aborted; the command and everything it started were killed. What it did until then stays done.",
    );
    expect(isError).toBe(true);
    expect(details).toMatchObject({ aborted: true, error: { code: "aborted" } });
  });

  it("says so when it was aborted before the command was started", async () => {
    const environment = await openMemory({ exec: { run: { stdout: "never" } } });
    const { text, details } = await call(bindTool(bashTool, environment), { command: "run" }, { signal: AbortSignal.abort() });
    expect(text).toBe("The call was aborted before the command was started. Call it again if it is still wanted.");
    expect(details).toMatchObject({ aborted: true, error: { retrySafe: true } });
  });

  it("goes on whatever becomes of its updates", async () => {
    const onUpdate = (): never => {
      throw new Error("the listener's own");
    };
    expect((await bash(prints("ok\n"), {}, { onUpdate })).text).toBe("ok");
  });

  it("settles only when the command has", async () => {
    const order: string[] = [];
    const exec = async (_: string, options?: ExecOptions): Promise<ExecResult> =>
      await new Promise((_resolve, reject) => {
        options?.signal?.addEventListener("abort", () => {
          order.push("aborted");
          setTimeout(() => {
            order.push("dead");
            reject(abortError(options.signal as AbortSignal));
          }, 50);
        });
      });
    await bash({ exec }, { timeout: 0.001 }).then(() => order.push("settled"));
    expect(order).toEqual(["aborted", "dead", "settled"]);
  });

  it("passes other errors on, with the output so far", async () => {
    const exec = async (_: string, options?: ExecOptions): Promise<ExecResult> => {
      await options?.onOutput?.(Buffer.from("so far"), "stdout");
      throw new GloveboxError("unknown_outcome", "The connection broke; the command may still run. Look before you repeat it.");
    };
    const { text, details } = await bash({ exec });
    expect(text).toBe("so far\n\nThe connection broke; the command may still run. Look before you repeat it.");
    expect(details).toMatchObject({ outputBytes: 6, error: { code: "unknown_outcome", retrySafe: false } });
    const foreign = async (): Promise<ExecResult> => {
      throw new TypeError("no such thing");
    };
    expect((await bash({ exec: foreign })).text).toBe(
      "Something failed that should not have: no such thing. Try once more, and report it if it comes again.",
    );
  });

  it("M04 is unsupported where no commands can run", async () => {
    const environment = await openMemory();
    expect((await call(bindTool(bashTool, environment), { command: "id" })).details).toMatchObject({ error: { code: "unsupported" } });
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e12, 2_147_484, "soon", null])("B13 refuses a timeout of %s", async (timeout) => {
    const tool = bindTool(bashTool, prints(""));
    expect(tool.validate({ command: "x", timeout }).ok).toBe(false);
    if (typeof timeout !== "number") return;
    await expect(
      tool.execute({ command: "x", timeout }, { id: "1", signal: new AbortController().signal, onUpdate() {} }),
    ).rejects.toMatchObject({
      code: "invalid_argument",
      message: `A timeout of ${timeout} seconds cannot be kept. Give a number from 0.001 to 2,147,483, or none.`,
    });
  });

  it("B13 takes the longest timeout that a timer can hold, and a string that is a number", async () => {
    expect((await bash(prints("ok"), { timeout: 2_147_483 })).text).toBe("ok");
    expect((await bash(prints("ok"), { timeout: "5" })).text).toBe("ok");
  });

  it("B02 P20 refuses what no shell can take", async () => {
    const exec = vi.fn();
    expect((await bash({ exec }, { command: "a\0b" })).text).toBe(
      "The command holds a NUL character, which no shell can take. Use printf '\\0' to make one.",
    );
    expect(exec).not.toHaveBeenCalled();
  });
});

describe("bash, updates", () => {
  it("sends the first at once and then at most every 100 ms, the last state included", async () => {
    vi.useFakeTimers();
    const updates: [number, string][] = [];
    const startedMs = performance.now();
    const exec = async (_: string, options?: ExecOptions): Promise<ExecResult> => {
      for (let count = 1; count <= 25; count += 1) {
        await options?.onOutput?.(Buffer.from(`${count}\n`), "stdout");
        await vi.advanceTimersByTimeAsync(10);
      }
      await vi.advanceTimersByTimeAsync(500);
      return { exitCode: 0 };
    };
    await bindTool(bashTool, { exec }).execute(
      { command: "x" },
      {
        id: "1",
        signal: new AbortController().signal,
        onUpdate: ({ content }) =>
          updates.push([performance.now() - startedMs, content[0]?.type === "text" ? (content[0].text.split("\n").at(-1) ?? "") : ""]),
      },
    );
    expect(updates).toEqual([
      [0, "1"],
      [100, "10"],
      [200, "20"],
      [300, "25"],
    ]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(updates).toHaveLength(4);
  });
});

describe("bash, rendering", () => {
  it("shows the command on one line and the last 20 lines of output", async () => {
    expect(bashTool.renderCall?.({ command: "echo a\nid", timeout: 5 }, { ansi: false })).toBe("bash echo a\\nid (timeout 5 seconds)");
    const { result } = await bash(prints(Array.from({ length: 30 }, (_, index) => `\x1b[3${index % 8}m${index}`).join("\n")));
    const lines = bashTool.renderResult?.(result, { ansi: false }).split("\n") ?? [];
    expect([lines[0], lines.at(-1)]).toEqual(["... 10 more lines before", "\\x1b[35m29"]);
  });
});
