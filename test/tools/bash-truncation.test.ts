import { describe, expect, it } from "vitest";
import { GloveboxError } from "../../src/contract/errors.js";
import type { ExecOptions, ExecResult } from "../../src/contract/operations.js";
import { bindTool } from "../../src/contract/tool.js";
import { bashTool } from "../../src/tools/bash.js";
import { readTool } from "../../src/tools/read.js";
import { call, openMemory } from "./support.js";

const numbers = (count: number): string => `${Array.from({ length: count }, (_, index) => index + 1).join("\n")}\n`;
const spool = /\/tmp\/\.glovebox-\d+\/spool-[0-9a-f]+\/bash-[0-9a-f-]{36}\.txt/;

async function run(stdout: string, result: ExecResult = {}, options = {}) {
  const environment = await openMemory({ exec: { run: { stdout, ...result } } });
  const called = await call(bindTool(bashTool, environment), { command: "run" }, options);
  return { ...called, text: called.text.replace(spool, "SPOOLED"), environment };
}

describe("bash, long output", () => {
  it("keeps the last 2,000 lines, and all of it on the target where read can open it", async () => {
    const { text, details, environment, isError } = await run(numbers(5000));
    expect(text).toBe(
      `${numbers(5000).split("\n").slice(3000, -1).join("\n")}\n\n[Shown: the last 2,000 lines of 5,000 (2,000 lines is the most). All of it is in SPOOLED on the target: read or grep that file.]`,
    );
    expect(isError).toBe(false);
    expect(details).toMatchObject({ outputBytes: 23_893, truncation: { shown: 2000, total: 5000, by: "lines" }, keptBytes: 23_893 });
    const path = String(details.fullOutputPath);
    expect(path).toMatch(spool);
    expect((await call(bindTool(readTool, environment), { path, limit: 2 })).text).toBe(
      "1\n2\n\n[Lines 1 to 2 of 5000 (limit 2): 4,998 lines remain. Read on with offset 3.]",
    );
  });

  it("keeps the last 50 KiB, whole lines", async () => {
    const { text, details } = await run(`${"x".repeat(999)}\n`.repeat(60));
    expect(text).toBe(
      `${`${"x".repeat(999)}\n`.repeat(51)}\n[Shown: the last 51 lines of 60 (50 KiB is the most). All of it is in SPOOLED on the target: read or grep that file.]`,
    );
    expect(details).toMatchObject({ truncation: { shown: 51, total: 60, by: "bytes" } });
  });

  it("B09 keeps the end of one long line", async () => {
    const { text, details } = await run("é".repeat(100_000));
    expect(text).toBe(
      `${"é".repeat(25_600)}\n\n[Shown: the end of the last line, of 1 line and 200,000 bytes in all. All of it is in SPOOLED on the target: read or grep that file.]`,
    );
    expect(details).toMatchObject({ truncation: { shown: 1, total: 1, by: "bytes" } });
  });

  it("writes nothing when everything is shown", async () => {
    const { environment, details } = await run(numbers(2000));
    expect(details).not.toHaveProperty("fullOutputPath");
    expect(environment.calls.map(({ verb }) => verb)).toEqual(["exec"]);
  });

  it("keeps it of failures too, before the cause", async () => {
    const { text, isError } = await run(numbers(2500), { exitCode: 2 });
    expect(text.split("\n").slice(-3)).toEqual([
      "",
      "[Shown: the last 2,000 lines of 2,500 (2,000 lines is the most). All of it is in SPOOLED on the target: read or grep that file.]",
      "Exit code 2. Look at the output for the reason before you run it again.",
    ]);
    expect(isError).toBe(true);
  });

  it("B09 says so when there is more than 32 MiB", async () => {
    const environment = await openMemory();
    const chunk = Buffer.from(`${"x".repeat(65_535)}\n`);
    const exec = async (_: string, options?: ExecOptions): Promise<ExecResult> => {
      for (let count = 0; count < 520; count += 1) await options?.onOutput?.(chunk, "stdout");
      return { exitCode: 0 };
    };
    const { id, cwd, spoolDirectory, writeFile } = environment;
    const { text, details } = await call(bindTool(bashTool, { id, cwd, spoolDirectory, writeFile, exec }), { command: "run" });
    expect(text.split("\n").at(-1)?.replace(spool, "SPOOLED")).toBe(
      "[Shown: the end of the last line, of 520 lines and 34,078,720 bytes in all. The first 32 MiB of its 34,078,720 bytes are in SPOOLED on the target: read or grep that file.]",
    );
    expect(details).toMatchObject({ outputBytes: 34_078_720, keptBytes: 33_554_432 });
    expect((await environment.stat(String(details.fullOutputPath))).size).toBe(33_554_432);
  });
});

describe("bash, long output that cannot be kept", () => {
  const exec = async (_: string, options?: ExecOptions): Promise<ExecResult> => {
    await options?.onOutput?.(Buffer.from(numbers(2001)), "stdout");
    return { exitCode: 0 };
  };
  const shown = "[Shown: the last 2,000 lines of 2,001 (2,000 lines is the most).";

  it("says so when there is no place for it", async () => {
    const { text, details } = await call(bindTool(bashTool, { exec }), { command: "run" });
    expect(text.split("\n").at(-1)).toBe(
      `${shown} The rest was not kept. To see the rest, run it again with its output sent to a file, and read that.]`,
    );
    expect(details).not.toHaveProperty("fullOutputPath");
  });

  it("says why when the target refuses it", async () => {
    const writeFile = async (): Promise<never> => {
      throw new GloveboxError("no_space", "No space left on the target.");
    };
    const { text } = await call(bindTool(bashTool, { exec, writeFile, spoolDirectory: "/spool" }), { command: "run" });
    expect(text.split("\n").at(-1)).toBe(
      `${shown} The rest could not be kept on the target: No space left on the target. To see the rest, run it again with its output sent to a file, and read that.]`,
    );
  });

  it("does not try when the call was aborted", async () => {
    const controller = new AbortController();
    const aborted = async (_: string, options?: ExecOptions): Promise<ExecResult> => {
      await options?.onOutput?.(Buffer.from(numbers(2001)), "stdout");
      controller.abort();
      throw new GloveboxError("aborted", "Aborted.");
    };
    const writeFile = async (): Promise<never> => {
      throw new Error("not to be called");
    };
    const tool = bindTool(bashTool, { exec: aborted, writeFile, spoolDirectory: "/spool" });
    const { text } = await call(tool, { command: "run" }, { signal: controller.signal });
    expect(text.split("\n").slice(-2)).toEqual([
      `${shown} The rest was not kept, since the call was aborted.]`,
      "The call was aborted; the command and everything it started were killed. What it did until then stays done.",
    ]);
  });
});
