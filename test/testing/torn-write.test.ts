import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { local } from "../../adapters/local/index.js";
import { openEnvironment } from "../../src/environment.js";
import { describeTarget } from "../support/describe-target.js";

const program = fileURLToPath(new URL("rewrite-forever.ts", import.meta.url));
const root = fileURLToPath(new URL("../..", import.meta.url));

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "glovebox-torn-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** Kills the program somewhere in a write and says whether the file is one whole version. */
async function killedInAWrite(kind: "naive" | "local"): Promise<"whole" | "torn"> {
  const child = spawn(process.execPath, ["--import", "tsx", program, kind, directory], { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 60));
  child.kill("SIGKILL");
  await once(child, "exit");
  const content = await readFile(join(directory, "file"));
  return content.byteLength === 8 * 1024 * 1024 && content.every((byte) => byte === content[0]) ? "whole" : "torn";
}

describeTarget("local", "R01 a process killed in the middle of a write", () => {
  it("tears the file of the naive adapter, so this test can fail", { timeout: 180_000 }, async () => {
    let outcome = "whole";
    for (let turn = 0; turn < 40 && outcome === "whole"; turn += 1) outcome = await killedInAWrite("naive");
    expect(outcome).toBe("torn");
  });

  it("leaves a whole file of the local adapter, and nothing else once another has connected", { timeout: 180_000 }, async () => {
    for (let turn = 0; turn < 4; turn += 1) expect(await killedInAWrite("local")).toBe("whole");
    await using environment = await openEnvironment(local(directory));
    await environment.writeFile("file", Buffer.from("next"));
    expect(await readdir(directory)).toEqual(["file"]);
  });
});
