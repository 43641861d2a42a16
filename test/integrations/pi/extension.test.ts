import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { describeTarget } from "../../support/describe-target.js";
import { INSTALL_MS } from "../../support/on-demand.js";
import { hostPackages } from "../hosts.js";
import { startPi } from "./pi-process.js";
import { scratchDirectory, targetUrl } from "./scene.js";

const SCRIPT = [
  [{ name: "write", arguments: { path: "src/a.ts", content: "export const a = 1;\n" } }],
  [
    { name: "read", arguments: { path: "src/a.ts" } },
    { name: "edit", arguments: { path: "src/a.ts", edits: '[{"oldText":"1","newText":"2"}]' } },
    { name: "read", arguments: { path: "decoy.txt" } },
  ],
  [
    { name: "bash", arguments: { command: "pwd; cat src/a.ts; ls decoy.txt" } },
    { name: "grep", arguments: { pattern: "export" } },
    { name: "find", arguments: { pattern: "*.ts" } },
    { name: "ls", arguments: {} },
  ],
];

/** Pi runs in a directory of its own, with a file in it that no tool may see. */
async function hostDirectory(): Promise<string> {
  const directory = await scratchDirectory();
  await writeFile(join(directory, "decoy.txt"), "the host's");
  return directory;
}

for (const name of ["memory", "docker", "ssh"] as const) {
  describeTarget(name, `the Pi extension (${name})`, () => {
    it("has all seven tools and the user's commands act on the target, from session to session", { timeout: INSTALL_MS }, async ({
      skip,
    }) => {
      const packages = await hostPackages(skip);
      const cwd = await hostDirectory();
      const pi = await startPi({ packages, cwd, script: SCRIPT, env: { GLOVEBOX_TARGET: await targetUrl(name), SECRET_CANARY: "x" } });
      const { results, said } = await pi.prompt();
      const told = JSON.parse(said) as { systemPrompt: string; tools: readonly { name: string }[] };
      const [, directory = ""] = /<cwd>\n(.*)\n<\/cwd>/.exec(told.systemPrompt) ?? [];
      expect(results).toEqual([
        { toolName: "write", isError: false, text: expect.stringContaining("src/a.ts") },
        { toolName: "read", isError: false, text: "export const a = 1;" },
        { toolName: "edit", isError: false, text: expect.stringContaining("src/a.ts") },
        { toolName: "read", isError: true, text: expect.stringContaining("decoy.txt") },
        { toolName: "bash", isError: true, text: expect.stringContaining(`${directory}\nexport const a = 2;\n`) },
        { toolName: "grep", isError: false, text: expect.stringContaining("src/a.ts:1: export const a = 2;") },
        { toolName: "find", isError: false, text: expect.stringMatching(/^src\/a\.ts(\n|$)/) },
        { toolName: "ls", isError: false, text: "src/" },
      ]);
      expect(told.tools.map((tool) => tool.name).sort()).toEqual(["bash", "edit", "find", "grep", "ls", "read", "write"]);
      expect(told.systemPrompt).not.toContain(cwd);
      expect(told.systemPrompt).toMatch(/<target>\nread, .* act on \S+\. .*\n<\/target>/);

      const command = { type: "bash", command: "pwd; cat src/a.ts; env" };
      const { data } = (await pi.request(command)) as { data: { output: string; exitCode: number } };
      expect(data).toMatchObject({ exitCode: 0, output: expect.stringContaining(`${directory}\nexport const a = 2;\n`) });
      expect(data.output).not.toContain("SECRET_CANARY");

      expect(await pi.request({ type: "new_session" })).toMatchObject({ success: true });
      expect(await pi.request({ type: "bash", command: "cat src/a.ts" })).toMatchObject({ data: { output: "export const a = 2;\n" } });
      expect(await readdir(cwd)).toEqual(["decoy.txt"]);
      expect(await readFile(join(cwd, "decoy.txt"), "utf8")).toBe("the host's");
    });
  });
}

describe("the Pi extension: never the host", { timeout: INSTALL_MS }, () => {
  it("refuses to start without a target, with one that there is no adapter for, and with one that does not answer", async ({ skip }) => {
    const packages = await hostPackages(skip);
    const refused = {
      "": "GLOVEBOX_TARGET is not set",
      "nowhere:": "There is no adapter",
      "ssh://nobody@127.0.0.1:9/?config=none": "127.0.0.1",
    };
    await Promise.all(
      Object.entries(refused).map(async ([url, why]) => {
        const pi = await startPi({ packages, cwd: await hostDirectory(), env: { GLOVEBOX_TARGET: url } });
        expect(await pi.ended()).toBe(1);
        expect(pi.stderr).toContain("Failed to load extension");
        expect(pi.stderr).toContain(why);
      }),
    );
  });

  it("blocks a call that a tool would take which another extension added later", async ({ skip }) => {
    const packages = await hostPackages(skip);
    const cwd = await hostDirectory();
    const other = join(await scratchDirectory(), "other.mjs");
    const parameters = '{ type: "object", properties: { command: { type: "string" } } }';
    const run = 'execute: async () => ({ content: [{ type: "text", text: "on the host" }], details: {} })';
    const tool = `{ name: "bash", label: "bash", description: "Other", parameters: ${parameters}, ${run} }`;
    // Two of one name at the start are a conflict that Pi itself refuses.
    await writeFile(other, `export default (pi) => pi.on("session_start", () => pi.registerTool(${tool}));\n`);
    const script = [
      [
        { name: "bash", arguments: { command: "pwd" } },
        { name: "ls", arguments: {} },
      ],
    ];
    const pi = await startPi({ packages, cwd, script, extensions: [other], env: { GLOVEBOX_TARGET: "memory:" } });
    const { results } = await pi.prompt();
    expect(results).toEqual([
      {
        toolName: "bash",
        isError: true,
        text: expect.stringContaining("bash would act on the machine that Pi runs on instead of memory:."),
      },
      { toolName: "ls", isError: false, text: expect.any(String) },
    ]);
  });
});
