import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startContainer } from "../../support/containers.js";
import { describeTarget } from "../../support/describe-target.js";
import { processesNaming } from "../../support/processes.js";
import type { TargetName } from "../../support/targets.js";
import { builtCli } from "./built-cli.js";
import { closeAll, ERAS, eventually, textOf, whenDone } from "./fixtures.js";
import { PROCESS_TOKEN, startHttp, startStdio } from "./mcp-process.js";

afterEach(closeAll);

/** A place of which a test may kill what it likes. */
interface Victim {
  readonly url: string;
  /** Kills the target, or what it is for the command: the shell that runs it. */
  killTarget(mark: string): Promise<void>;
}

const VICTIMS: readonly { readonly name: TargetName; make(): Promise<Victim> }[] = [
  {
    name: "local",
    async make() {
      const directory = await mkdtemp(join(tmpdir(), "glovebox-kill-"));
      whenDone(() => rm(directory, { recursive: true, force: true }));
      await mkdir(join(directory, "work"));
      await writeFile(join(directory, "work", "a.txt"), "hello\n");
      return {
        url: `local:${join(directory, "work")}`,
        async killTarget(mark) {
          for (const pid of await processesNaming(mark)) process.kill(pid, "SIGKILL");
        },
      };
    },
  },
  {
    name: "docker",
    async make() {
      const box = await startContainer();
      whenDone(() => box.remove());
      await box.exec(["sh", "-c", "echo hello > /workspace/a.txt"]);
      return { url: `docker://${box.name}/workspace`, killTarget: () => box.container.kill() };
    },
  },
];

/** How long anything may take that must come to an end; it takes a few seconds on a quiet machine. */
const PATIENCE_MS = 90_000;

let count = 0;
/** A command that runs for ever in the foreground, and in every way in the background, known by a number in its arguments. */
function endless(): { readonly mark: string; readonly command: string } {
  count += 1;
  const mark = `${900_000_000 + process.pid * 10 + count}`;
  return {
    mark,
    command: `sleep ${mark} & setsid sleep ${mark} & nohup sleep ${mark} >/dev/null 2>&1 & (setsid sh -c 'sleep ${mark}; :' &); sleep ${mark}`,
  };
}

/** Waits until so many of its processes run. A command line has NUL between its words. */
async function runs(mark: string, atLeast = 1): Promise<void> {
  await eventually(async () => (await processesNaming(`sleep\0${mark}`)).length >= atLeast, PATIENCE_MS);
}

async function nothingLeft(mark: string): Promise<void> {
  await eventually(async () => (await processesNaming(mark)).length === 0, PATIENCE_MS);
}

for (const { name, make } of VICTIMS) {
  describeTarget(name, `kill -9, on ${name}`, () => {
    let victim: Victim;
    beforeEach(async () => {
      victim = await make();
    });

    it("of a stdio server leaves nothing running, and the next one sweeps, in both eras", async () => {
      await Promise.all(
        ERAS.map(async (era) => {
          const { mark, command } = endless();
          const { client, pid } = await startStdio(["-t", victim.url], era);
          const long = await client.callTool({ name: "bash", arguments: { command: "head -c 200000 /dev/zero | tr '\\0' x" } });
          const { fullOutputPath } = long.structuredContent as { readonly fullOutputPath: string };
          client.callTool({ name: "bash", arguments: { command } }).catch(() => undefined);
          await runs(mark, 5);
          process.kill(pid, "SIGKILL");
          await nothingLeft(mark);
          const next = (await startStdio(["-t", victim.url], era)).client;
          expect(textOf(await next.callTool({ name: "read", arguments: { path: "a.txt" } }))).toBe("hello");
          const look = { name: "bash", arguments: { command: `test -e '${fullOutputPath}' && echo left behind` } };
          await eventually(async () => !textOf(await next.callTool(look)).includes("left behind"), PATIENCE_MS);
        }),
      );
    });

    it("of a client ends its stdio server, and the command, in both eras", async () => {
      await Promise.all(
        ERAS.map(async (era) => {
          const { mark, command } = endless();
          const client = startClient(["stdio", await builtCli(), era, command, "-t", victim.url]);
          const server = Number(await client.says(/server (\d+)/));
          await runs(mark, 5);
          client.child.kill("SIGKILL");
          await nothingLeft(mark);
          await eventually(() => !isAlive(server), PATIENCE_MS);
        }),
      );
    });

    it("of clients of an HTTP server ends their commands, and no other's; of the server, all", async () => {
      const server = await startHttp(["-t", victim.url]);
      const survivor = await server.connect();
      const call = survivor.callTool({ name: "bash", arguments: { command: "until test -e go; do sleep 0.1; done; echo done" } });
      await Promise.all(
        ERAS.map(async (era) => {
          const { mark, command } = endless();
          const client = startClient(["http", server.url, era, command]);
          await runs(mark, 5);
          client.child.kill("SIGKILL");
          await nothingLeft(mark);
        }),
      );
      await survivor.callTool({ name: "write", arguments: { path: "go", content: "" } });
      expect(textOf(await call)).toBe("done");

      const { mark, command } = endless();
      survivor.callTool({ name: "bash", arguments: { command } }).catch(() => undefined);
      await runs(mark, 5);
      process.kill(server.pid, "SIGKILL");
      await nothingLeft(mark);
    });

    it("of the target under a command is an answer, and no other call hangs", async () => {
      const { mark } = endless();
      const { client } = await startStdio(["-t", victim.url]);
      const call = client.callTool({ name: "bash", arguments: { command: `echo before; sleep ${mark}; echo after` } });
      await runs(mark);
      await victim.killTarget(mark);
      const result = await call;
      expect(result.isError).toBe(true);
      expect(textOf(result)).toMatch(/^before\n/);
      expect(await client.callTool({ name: "ls", arguments: {} })).toHaveProperty("content");
    });

    it("is not needed: a signal ends server and commands alike", async () => {
      const { mark, command } = endless();
      const server = await startHttp(["-t", victim.url]);
      const client = await server.connect();
      const call = client.callTool({ name: "bash", arguments: { command } });
      await runs(mark, 5);
      const ended = server.end();
      expect(textOf(await call)).toContain("The call was aborted; the command and everything it started were killed.");
      expect(await ended).toBe(0);
      await nothingLeft(mark);
    });
  });
}

const clientFile = fileURLToPath(new URL("calling-client.mjs", import.meta.url));

function startClient(words: readonly string[]) {
  const child = spawn(process.execPath, [clientFile, ...words], {
    env: { ...process.env, CLIENT_TOKEN: PROCESS_TOKEN },
    stdio: ["ignore", "ignore", "pipe"],
  });
  whenDone(async () => void child.kill("SIGKILL"));
  let text = "";
  child.stderr.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  const says = async (pattern: RegExp): Promise<string> => {
    await eventually(() => pattern.test(text), PATIENCE_MS);
    return pattern.exec(text)?.[1] ?? "";
  };
  return { child, says };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("a mark", () => {
  it("is of one command only", () => {
    expect(endless().mark).not.toBe(endless().mark);
  });
});
