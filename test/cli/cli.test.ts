import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { version } from "../../src/cli/version.js";
import { runCli } from "./run-cli.js";

let directory: string;
let target: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "glovebox-cli-"));
  target = `local:${directory}`;
  await writeFile(join(directory, "a.txt"), "hello\n");
});

afterAll(() => rm(directory, { recursive: true }));

describe.concurrent("glovebox call", () => {
  it("prints the text of a result and exits 0", async () => {
    const outcome = await runCli(["call", "read", "--target", target, "--args", '{"path":"a.txt"}']);
    expect(outcome).toEqual({ code: 0, stdout: "hello\n", stderr: "" });
  });

  it("prints one JSON object with --json, arguments from standard input", async () => {
    const { code, stdout } = await runCli(["call", "read", "-t", target, "--json", "--args", "-"], { stdin: '{"path":"a.txt"}' });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ content: [{ type: "text", text: "hello" }], details: { path: "a.txt" }, isError: false });
    expect(stdout.trimEnd().split("\n")).toHaveLength(1);
  });

  it("exits 1 when the result is an error, which is still printed as data", async () => {
    const { code, stdout } = await runCli(["call", "read", "-t", target, "--json", "-a", '{"path":"b.txt"}']);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ isError: true, details: { error: { code: "not_found" } } });
  });

  it("takes its target from GLOVEBOX_TARGET", async () => {
    const { code, stdout } = await runCli(["call", "ls"], { env: { GLOVEBOX_TARGET: target } });
    expect(code).toBe(0);
    expect(stdout).toContain("a.txt\n");
  });

  it("never falls back to this machine: no target is wrong usage", async () => {
    const { code, stdout, stderr } = await runCli(["call", "ls"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toBe("glovebox: no target: give --target URL (local:. for this directory) or set GLOVEBOX_TARGET\n");
  });

  it("A12 escapes control characters for people", async () => {
    const { stdout } = await runCli([
      "call",
      "bash",
      "-t",
      target,
      "-a",
      JSON.stringify({ command: "printf '\\033]52;c;AAAA\\a\\033[2J'" }),
    ]);
    expect(stdout).not.toContain("\u001b");
    expect(stdout).toContain("\\x1b]52");
  });

  it("refuses writes and commands with --read-only, and keeps an audit", async () => {
    const audit = join(directory, "audit.jsonl");
    const { code, stdout } = await runCli([
      "call",
      "write",
      "-t",
      target,
      "--json",
      "--read-only",
      "--audit",
      audit,
      "-a",
      '{"path":"new.txt","content":"x"}',
    ]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout).details.error.code).toBe("permission_denied");
    const lines = (await readFile(audit, "utf8")).trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).verb)).toContain("writeFile");
  });

  it.each([
    ["arguments that are not JSON", ["call", "read", "-t", "memory:", "-a", "{path}"], "--args is not JSON"],
    ["an unknown option", ["call", "read", "--nope"], "unknown option '--nope'"],
    ["an unknown command", ["cal"], "unknown command 'cal'"],
    ["an unknown scheme", ["call", "ls", "-t", "ftp://x/y"], "There is no adapter"],
    ["a target that is no URL", ["call", "ls", "-t", "/srv"], "is not a target URL"],
  ])("exits 2 for %s", async (_, words, said) => {
    const { code, stdout, stderr } = await runCli(words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(said);
  });
});

describe.concurrent("glovebox batch", () => {
  const calls = [
    { id: "1", name: "read", arguments: { path: "a.txt" } },
    { id: "2", name: "bash", arguments: { command: "exit 3" } },
    { id: "3", name: "reed", arguments: {} },
  ];

  it.each([
    ["a JSON array", JSON.stringify(calls)],
    ["one call a line", `${calls.map((call) => JSON.stringify(call)).join("\n\n")}\n`],
  ])("takes %s and prints one line for each result, in call order, exit 0", async (_, stdin) => {
    const { code, stdout } = await runCli(["batch", "-t", target, "--json"], { stdin });
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(code).toBe(0);
    expect(lines.map(({ type, id, name, isError }) => ({ type, id, name, isError }))).toEqual([
      { type: "tool_result", id: "1", name: "read", isError: false },
      { type: "tool_result", id: "2", name: "bash", isError: true },
      { type: "tool_result", id: "3", name: "reed", isError: true },
    ]);
    expect(lines[2].content[0].text).toContain("Did you mean read?");
  });

  it("prints each event as it happens with --events, results among them", async () => {
    const file = join(directory, "calls.json");
    await writeFile(file, JSON.stringify(calls));
    const { code, stdout } = await runCli(["batch", "-t", target, "--events", "--json", file]);
    const types = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).type);
    expect(code).toBe(0);
    expect(types.filter((type) => type === "tool_result")).toHaveLength(3);
    expect(types.indexOf("tool_execution_start")).toBeLessThan(types.indexOf("tool_result"));
    expect(new Set(types)).toContain("tool_execution_end");
  });

  it.each([
    ["an empty batch", "", "the batch is empty"],
    ["a line that is not JSON", '{"id":"1","name":"ls"}\n{"id":', "line 2 of the batch is not JSON"],
    ["a call without a name", '[{"id":"1"}]', 'call 1 of the batch is not an object with the strings "id" and "name"'],
  ])("exits 2 for %s", async (_, stdin, said) => {
    const { code, stderr } = await runCli(["batch", "-t", "memory:"], { stdin });
    expect(code).toBe(2);
    expect(stderr).toContain(said);
  });
});

describe.concurrent("glovebox exec", () => {
  it("passes output through byte for byte, apart, and the exit code on", async () => {
    const outcome = await runCli(["exec", "-t", target, "--", "sh", "-c", "printf 'a\\033b'; echo err >&2; exit 7"]);
    expect(outcome).toEqual({ code: 7, stdout: "a\u001bb", stderr: "err\n" });
  });

  it("takes one word as a shell command line, several as a program and its arguments", async () => {
    expect((await runCli(["exec", "-t", target, "--", "echo $((1+1)); exit 4"])).stdout).toBe("2\n");
    expect((await runCli(["exec", "-t", target, "--", "printf", "%s|", "$HOME", "it's", "-n"])).stdout).toBe("$HOME|it's|-n|");
  });

  it("passes standard input on with --stdin, and cwd and variables", async () => {
    const words = ["exec", "-t", target, "--stdin", "--env", "A=1 2", "--cwd", "/", "--", 'cat; echo "$A $PWD"'];
    expect((await runCli(words, { stdin: "in\n" })).stdout).toBe("in\n1 2 /\n");
  });

  it.each([
    ["124 for a timeout", ["--timeout", "0.5", "--", "sleep 30"], 124],
    ["137 for SIGKILL", ["--", "kill -9 $$"], 137],
    ["127 for a command that is not there", ["--", "no-such-command-anywhere"], 127],
    ["126 for one that cannot be executed", ["--", "/etc/passwd", "x"], 126],
    ["125 when we fail", ["--cwd", "/no/such/directory", "--", "true"], 125],
    ["2 for wrong usage", ["--timeout", "-1", "--", "true"], 2],
  ])("exits %s", async (_, words, expected) => {
    const { code, stderr } = await runCli(["exec", "-t", target, ...words]);
    expect({ code, stderr }).toEqual({ code: expected, stderr: expect.any(String) });
  });
});

describe.concurrent("glovebox tools, doctor, help", () => {
  it("lists seven tools with schemas", async () => {
    const { code, stdout } = await runCli(["tools", "--json"]);
    const tools = JSON.parse(stdout);
    expect(code).toBe(0);
    expect(tools.map(({ name }: { name: string }) => name).sort()).toEqual(["bash", "edit", "find", "grep", "ls", "read", "write"]);
    for (const { parameters } of tools) expect(parameters).toMatchObject({ type: "object", additionalProperties: false });
  });

  it("examines a live target", async () => {
    const { code, stdout } = await runCli(["doctor", "-t", target, "--json"]);
    const findings = JSON.parse(stdout);
    expect(findings.contract.filter((each: { outcome: string }) => each.outcome === "failed")).toEqual([]);
    expect(findings.description.isolation).toMatch(/^none/);
    expect(code).toBe(0);
  });

  it("prints its version and its help", async () => {
    expect((await runCli(["--version"])).stdout).toBe(`${version}\n`);
    const help = await runCli(["help"]);
    expect(help.code).toBe(0);
    for (const command of ["call", "batch", "exec", "tools", "doctor"]) expect(help.stdout).toContain(`\n  ${command} `);
  });
});
