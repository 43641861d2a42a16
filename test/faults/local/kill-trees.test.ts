import { spawn } from "node:child_process";
import { readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Environment } from "../../../src/contract/target.js";
import { afterwards, bytes, codeOf, eventually, lives, makeScene, open, text } from "../../adapters/local/scene.js";
import { describeTarget } from "../../support/describe-target.js";
import { trials } from "./trials.js";

/** A script that leaves its pid in the working directory and stays, ever so stubbornly. */
const STUBBORN = 'echo > "pid-$$"; trap "" TERM HUP INT; while :; do sleep 0.2; done';

/** One command that starts every kind of process which a careless kill misses. `nap` runs STUBBORN. */
const TREE = `
nap() { sh "$NAP"; }
nap & nohup sh "$NAP" >/dev/null 2>&1 &
setsid sh "$NAP" &
(setsid sh -c 'sh "$0" & sh "$0" &' "$NAP" &)
sh -c 'echo > "pid-$$"; kill -STOP $$' &
( ( sh -c 'cd / && cd "$OLDPWD" && exec sh "$0"' "$NAP" & ) & )
sh "$NAP"
`;
const STARTED = 8;

/** Starts the tree in a directory of its own and waits until all of it runs. */
async function plant(
  root: string,
  name: string,
  run: (options: { cwd: string; env: { NAP: string } }) => unknown,
): Promise<() => number[]> {
  const cwd = join(root, name);
  run({ cwd, env: { NAP: join(root, "nap.sh") } });
  const pids = (): number[] => pidsIn(cwd);
  afterwards(() => {
    // By then a number may have gone to somebody else.
    for (const pid of pids().filter((each) => isAt(each, cwd))) process.kill(pid, "SIGKILL");
  });
  await eventually(`${STARTED} processes run`, () => pids().length >= STARTED);
  return pids;
}

function isAt(pid: number, directory: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === directory;
  } catch {
    return false;
  }
}

function pidsIn(directory: string): number[] {
  return readdirSync(directory)
    .filter((each) => each.startsWith("pid-"))
    .map((each) => Number(each.slice("pid-".length)));
}

async function prepare(): Promise<{ readonly root: string; readonly environment: Environment }> {
  const { root } = makeScene();
  const environment = await open(root);
  await environment.writeFile("nap.sh", bytes(STUBBORN));
  return { root, environment };
}

describeTarget("local", "P6 killing everything that a command started", () => {
  it(`an abort leaves no survivor (${trials} times)`, { timeout: 60_000 + trials * 4_000 }, async () => {
    const { root, environment } = await prepare();
    const one = async (trial: number): Promise<void> => {
      const controller = new AbortController();
      let outcome: Promise<string> = Promise.resolve("");
      await environment.writeFile(`${trial}/x`, bytes(""));
      const pids = await plant(root, String(trial), (options) => {
        outcome = codeOf(environment.exec(TREE, { ...options, signal: controller.signal }));
      });
      controller.abort();
      expect(await outcome).toBe("aborted");
      expect(pids().filter(lives), `trial ${trial}`).toEqual([]);
    };
    for (let trial = 0; trial < trials; trial += 5)
      await Promise.all(Array.from({ length: Math.min(5, trials - trial) }, (_, index) => one(trial + index)));
    // P5: what comes after works.
    expect(await environment.exec("exit 4")).toEqual({ exitCode: 4 });
  });

  it("a timeout and a close leave none either; another's processes are left alone", async () => {
    const { root, environment } = await prepare();
    const other = await open(root);
    await environment.writeFile("timeout/x", bytes(""));
    await environment.writeFile("close/x", bytes(""));
    const bystander = await plantBystander(other, root);
    let outcome: Promise<string> = Promise.resolve("");
    const timedOut = await plant(root, "timeout", (options) => {
      outcome = codeOf(environment.exec(TREE, { ...options, signal: AbortSignal.timeout(3_000) }));
    });
    expect(await outcome).toBe("timeout");
    expect(timedOut().filter(lives)).toEqual([]);
    const closed = await plant(root, "close", (options) => {
      outcome = codeOf(environment.exec(TREE, options));
    });
    await environment.close();
    expect(await outcome).toBe("gone");
    expect(closed().filter(lives)).toEqual([]);
    expect(lives(bystander), "P8").toBe(true);
  });

  it("a normal exit leaves them alive and names them, and the close then kills them", async () => {
    const { root, environment } = await prepare();
    await environment.writeFile("normal/x", bytes(""));
    const command = TREE.replace(/\nsh "\$NAP"\n$/, "\nsleep 0.5; echo done\n");
    const output: string[] = [];
    const result = await environment.exec(command, {
      cwd: join(root, "normal"),
      env: { NAP: join(root, "nap.sh") },
      onOutput: (chunk) => void output.push(text(chunk)),
    });
    expect([result.exitCode, output.join("")]).toEqual([0, "done\n"]);
    expect(result.background?.length).toBeGreaterThanOrEqual(STARTED - 1);
    const pids = pidsIn(join(root, "normal"));
    expect([pids.length, pids.every(lives)]).toEqual([STARTED - 1, true]);
    expect(result.background).toEqual(expect.arrayContaining(pids));
    await environment.close();
    expect(pids.filter(lives)).toEqual([]);
  });

  it("would be noticed: killing the child, or its group, leaves survivors", async () => {
    const { root, environment } = await prepare();
    for (const name of ["child", "group"]) {
      await environment.writeFile(`${name}/x`, bytes(""));
      let kill = (): unknown => undefined;
      const pids = await plant(root, name, ({ cwd, env }) => {
        const child = spawn("bash", ["-c", TREE], { cwd, env: { ...process.env, ...env }, detached: true, stdio: "ignore" });
        kill = () => (name === "child" ? child.kill("SIGKILL") : process.kill(-(child.pid ?? 0), "SIGKILL"));
      });
      kill();
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(pids().filter(lives).length, name).toBeGreaterThan(0);
    }
  });

  it("R04 P9 a command killed from outside says so, and never success", async () => {
    const { environment } = await prepare();
    for (let trial = 0; trial < Math.min(trials, 30); trial += 1) {
      const signal = trial % 2 === 0 ? "SIGKILL" : "SIGTERM";
      const result = await environment.exec(`kill -${signal.slice(3)} $$; sleep 10`);
      expect(result).toEqual({ signal });
    }
    expect(await environment.exec("sh -c 'kill -9 $$'; exit $?")).toEqual({ exitCode: 137 });
  });
});

async function plantBystander(other: Environment, root: string): Promise<number> {
  const { background = [] } = await other.exec("setsid sleep 600 & echo", { cwd: root });
  return background[0] ?? 0;
}
