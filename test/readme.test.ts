import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeTarget } from "./support/describe-target.js";
import { startSshd } from "./support/sshd.js";

/*
 * What the README shows is run as it stands: its TypeScript blocks against the built package, its commands through the
 * built command line.
 */
const run = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));
const scratch = join(root, ".cache", "readme");
const readme = await readFile(join(root, "README.md"), "utf8");
const blocks = [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = "", text = ""]) => ({ language, text }));
const programs = blocks.filter(({ language }) => language === "ts").map(({ text }) => text);

beforeAll(() => mkdir(scratch, { recursive: true }));
afterAll(() => rm(scratch, { recursive: true }));

/** Runs TypeScript in a file inside the package, where "glovebox" means the built one. */
async function runProgram(name: string, text: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const file = join(scratch, `${name}.ts`);
  await writeFile(file, text);
  const { stdout } = await run(process.execPath, ["--import", "tsx", file], { cwd: root, env: { ...process.env, ...env } });
  return stdout;
}

describe("README", () => {
  it("its two commands are the ones that exist, and CI runs the second", async () => {
    const commands = blocks.filter(({ language }) => language === "console").map(({ text }) => text.trim());
    expect(commands).toEqual(["$ npm ci && npm run demo", "$ npm ci && npm test"]);
    expect(await readFile(join(root, ".ci", "run"), "utf8")).toContain("\nnpm ci && npm test\n");
    const { scripts } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
    expect(scripts).toMatchObject({ demo: expect.any(String), test: expect.any(String), "test:quick": expect.any(String) });
  });

  it("links to files that exist", async () => {
    const links = [...readme.matchAll(/\]\(([^)#:]+)\)/g)].map(([, path = ""]) => path);
    for (const path of links) await expect(readFile(join(root, path)), path).resolves.toBeDefined();
  });

  it("its library block runs", async () => {
    const output = await runProgram("library", programs.find((text) => text.includes("createScheduler")) ?? "");
    expect(output).toContain("read false");
    expect(output).toContain("bash false");
  });

  it("its block for testers runs", async () => {
    const output = await runProgram("memory", programs.find((text) => text.includes("glovebox/memory")) ?? "");
    expect(output).toContain("'read', 'bash', 'edit', 'write'");
  });

  it("every file in examples/ that is named in package.json or the README is there", async () => {
    const examples = await readdir(join(root, "examples"));
    for (const [, name = ""] of readme.matchAll(/examples\/([\w-]+\.ts)/g)) expect(examples).toContain(name);
  });

  it("the demo shows both targets, a veto and both edits", async () => {
    const { stdout } = await run(process.execPath, ["--import", "tsx", join(root, "examples", "demo.ts")], { cwd: root });
    expect(stdout).toContain("=== memory:");
    expect(stdout).toContain("=== local:");
    expect(stdout.match(/Removing things is not allowed here\./g)).toHaveLength(2);
    expect(stdout.match(/currency = 'USD'/g)?.length).toBeGreaterThanOrEqual(2);
    expect(stdout.match(/return prices\.reduce\(\(sum, price\) => sum \+ price, 0\);/g)?.length).toBeGreaterThanOrEqual(2);
    expect(stdout).toContain("waits for its turn");
  });
});

describeTarget("docker", "README for platforms", () => {
  it("its block runs", async () => {
    await runProgram("docker", programs.find((text) => text.includes("glovebox/docker")) ?? "");
  });
});

describeTarget("ssh", "README for teams", () => {
  it("its block runs", async () => {
    await using server = await startSshd();
    const config = join(scratch, "ssh_config");
    const [host, port, user] = [server.host, server.port, server.account.name];
    const lines = [
      `HostName ${host}`,
      `Port ${port}`,
      `User ${user}`,
      `IdentityFile ${server.privateKeyPath}`,
      `UserKnownHostsFile ${server.knownHostsPath}`,
    ];
    await writeFile(config, `Host build.example\n${lines.map((line) => `  ${line}\n`).join("")}`);
    const text = programs.find((each) => each.includes("glovebox/ssh")) ?? "";
    const shown = "ssh://dev@build.example/srv/app";
    expect(text).toContain(shown);
    await runProgram(
      "ssh",
      text.replace(shown, `ssh://${user}@build.example:${port}${server.workspace}?config=${encodeURIComponent(config)}`),
    );
  });
});
