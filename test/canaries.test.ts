import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { docker } from "../adapters/docker/index.js";
import { local } from "../adapters/local/index.js";
import type { GloveboxEvent } from "../src/contract/events.js";
import type { Target } from "../src/contract/target.js";
import { audit, createScheduler, createTools, openEnvironment } from "../src/index.js";
import { describeTarget } from "./support/describe-target.js";
import { makeScratch, removeScratch } from "./support/scratch.js";
import { engineClient } from "./support/sweep.js";

const PLACES = [
  "our environment",
  "a command's variable",
  "a command's stdin",
  "a file that is read",
  "a file that is written",
  "an edit",
  "a refused edit",
  "a command's text",
  "a path",
  "a failed command's text",
  "a command that runs into its timeout",
  "an option's value",
] as const;

const canaries = new Map(PLACES.map((place, index) => [place, `canary-${index}-${process.pid.toString(36)}-q7x`] as const));
const canary = (place: (typeof PLACES)[number]): string => canaries.get(place) ?? "";
const found = (text: string): readonly string[] => PLACES.filter((place) => text.includes(canary(place)));

/** Everything below a directory, names and bytes. */
async function contents(directory: string): Promise<string> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  const texts = entries.map(async (entry) => {
    const path = join(entry.parentPath, entry.name);
    return `${path}\n${entry.isFile() ? await readFile(path, "latin1").catch(() => "") : ""}`;
  });
  return (await Promise.all(texts)).join("\n");
}

/** Uses every secret as a secret is used; returns all that was said about it beside what was asked for. */
async function useThem(target: Target, secrets: readonly string[]): Promise<string> {
  const said: unknown[] = [];
  const layers = [audit({ write: (line) => void said.push(line) }, { secrets })];
  const onEvent = (event: GloveboxEvent): void => void said.push(event);
  const environment = await openEnvironment(target, { layers, onEvent });
  try {
    const printed = await environment.exec("env; cat >/dev/null", {
      env: { TOKEN: canary("a command's variable") },
      stdin: Buffer.from(canary("a command's stdin")),
      onOutput: (chunk) =>
        void said.push(
          Buffer.from(chunk)
            .toString()
            .replace(/^TOKEN=.*$/m, ""),
        ),
    });
    said.push(printed, await environment.describe());
    await environment.writeFile("read.txt", Buffer.from(canary("a file that is read")));
    for (const name of ["edited.txt", "other.txt"]) await environment.writeFile(name, Buffer.from("one\n"));
    const scheduler = createScheduler({ tools: createTools(environment) });
    const { results } = await scheduler.runBatch([
      { id: "1", name: "write", arguments: { path: "written.txt", content: canary("a file that is written") } },
      { id: "2", name: "edit", arguments: { path: "edited.txt", edits: [{ oldText: "one", newText: canary("an edit") }] } },
      { id: "3", name: "edit", arguments: { path: "other.txt", edits: [{ oldText: canary("a refused edit"), newText: "x" }] } },
    ]);
    said.push(results[0], results[2]);
    await environment.readFile("read.txt");
    await environment.readFile(`missing/${canary("a path")}`).catch(({ code }: { code: string }) => said.push(code));
    for (const [place, command, options] of [
      ["a command's text", `: ${canary("a command's text")}`, {}],
      ["a failed command's text", `: ${canary("a failed command's text")}; exit 3`, {}],
      [
        "a command that runs into its timeout",
        `: ${canary("a command that runs into its timeout")}; sleep 60`,
        { signal: AbortSignal.timeout(500) },
      ],
    ] as const) {
      const outcome = await environment.exec(command, options).catch((error: Error & { readonly code: string }) => ({
        ...error,
        message: error.message,
        stack: error.stack,
      }));
      said.push(place, outcome);
    }
  } finally {
    await environment.close();
  }
  return said.map((thing) => JSON.stringify(thing)).join("\n");
}

describeTarget(["local", "docker"], "P13 twelve planted secrets", () => {
  it("L10 A14 stay out of results, errors, events, the audit and temporary files of a local target", async () => {
    const scratch = await makeScratch();
    const workspace = join(scratch, "work");
    await mkdir(workspace);
    process.env.GLOVEBOX_TEST_CANARY = canary("our environment");
    try {
      const said = await useThem(local(workspace, { env: { OPTION: canary("an option's value") } }), [...canaries.values()]);
      expect(found(said.replace(new RegExp(`OPTION=${canary("an option's value")}`), ""))).toEqual([]);
      expect(found(await contents(join(tmpdir(), `.glovebox-${process.getuid?.()}`)))).toEqual([]);
      // What was asked for is there, or this proves nothing.
      expect(found(await contents(workspace))).toEqual(["a file that is read", "a file that is written", "an edit"]);
    } finally {
      delete process.env.GLOVEBOX_TEST_CANARY;
      await removeScratch(scratch);
      await rm(workspace, { recursive: true, force: true });
    }
  });

  it("D43 stay out of the engine's events and of its record of a container", async () => {
    const events = (await engineClient().getEvents({ since: Math.floor(Date.now() / 1000) })) as NodeJS.ReadableStream & {
      destroy(): void;
    };
    let told = "";
    events.on("data", (chunk: Buffer) => {
      told += chunk.toString();
    });
    const said = await useThem(docker({}), [...canaries.values()]);
    await new Promise((resolve) => setTimeout(resolve, 500));
    events.destroy();
    expect(told).toContain("exec_create");
    expect(found(told)).toEqual([]);
    expect(found(said)).toEqual([]);
  });
});
