import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { open, readFile, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type Docker from "dockerode";
import type { TestImage } from "./containers.js";
import { findProgram } from "./packages.js";
import { killAll } from "./processes.js";
import { runCommand } from "./run-command.js";
import { makeScratch, removeScratch } from "./scratch.js";
import { engineClient } from "./sweep.js";

/** A second Docker engine, for tests that stop, kill or freeze one. It has a network namespace of its own, and no network in it. */
export interface PrivateEngine extends AsyncDisposable {
  readonly socketPath: string;
  readonly dockerHost: string;
  readonly docker: Docker;
  /** dockerd's pid, or undefined while it does not run. */
  readonly pid: number | undefined;
  /** Starts it again after stop() or kill(), with its containers and images. Resolves when it answers. */
  start(): Promise<void>;
  /** An orderly end (SIGTERM): it stops its containers first, unless it was started with liveRestore. */
  stop(): Promise<void>;
  /** SIGKILL. The containers live on, without an engine. */
  kill(): Promise<void>;
  /** SIGSTOP: connections are accepted and never answered. */
  freeze(): void;
  thaw(): void;
  readLog(): Promise<string>;
  /** Stops it and deletes everything it had. */
  remove(): Promise<void>;
}

export interface PrivateEngineOptions {
  /** Copied from the engine that the tests use. Default: glovebox/busybox, which takes no time. */
  readonly images?: readonly TestImage[];
  /** Containers survive an orderly end of the engine. */
  readonly liveRestore?: boolean;
}

/** Why no private engine can be made here, or undefined if one can. */
export function privateEngineObstacle(): string | undefined {
  if (process.platform !== "linux") return "needs Linux";
  if (process.getuid?.() !== 0) return "needs root";
  const missing = ["dockerd", "ip", "nsenter"].filter((program) => findProgram(program) === undefined);
  return missing.length === 0 ? undefined : `not installed: ${missing.join(", ")}`;
}

export async function startPrivateEngine(options: PrivateEngineOptions = {}): Promise<PrivateEngine> {
  const obstacle = privateEngineObstacle();
  if (obstacle !== undefined) throw new Error(`a private engine is not to be had: ${obstacle}`);
  const directory = await makeScratch();
  const socketPath = join(directory, "docker.sock");
  const dockerHost = `unix://${socketPath}`;
  const docker = engineClient(dockerHost);
  const logPath = join(directory, "log");
  const namespace = basename(directory);
  await runCommand("ip", ["netns", "add", namespace]);
  await runCommand("ip", ["-n", namespace, "link", "set", "lo", "up"]);

  const command = [
    // Not "ip netns exec", which hides the control groups behind a fresh /sys.
    "nsenter",
    `--net=/run/netns/${namespace}`,
    // A worker that is killed takes dockerd along.
    ...["setpriv", "--pdeathsig", "KILL", "--"],
    "dockerd",
    // In the host's own namespace these two would take docker0 and the rules of the other engine away.
    ...["--bridge=none", "--iptables=false", "--ip6tables=false", "--ip-masq=false"],
    ...["--data-root", join(directory, "data"), "--exec-root", join(directory, "exec")],
    ...["--pidfile", join(directory, "pid"), "--host", dockerHost],
    ...(options.liveRestore ? ["--live-restore"] : []),
  ];
  let engine: ChildProcess | undefined;

  async function start(): Promise<void> {
    if (engine !== undefined) return;
    await clearPidFiles(directory);
    const log = await open(logPath, "a");
    const child = spawn("/usr/bin/env", command, { stdio: ["ignore", log.fd, log.fd] });
    await log.close();
    engine = child;
    child.once("exit", () => {
      if (engine === child) engine = undefined;
    });
    const deadline = Date.now() + 30_000;
    while (!(await answers(docker))) {
      if (engine !== child || Date.now() > deadline) {
        child.kill("SIGKILL");
        throw new Error(`the private engine does not start:\n${(await readFile(logPath, "utf8")).split("\n").slice(-15).join("\n")}`);
      }
      await sleep(50);
    }
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const child = engine;
    if (child === undefined) return;
    const exited = once(child, "exit");
    child.kill(signal);
    // A frozen one acts on a signal only when it is thawed.
    child.kill("SIGCONT");
    await exited;
  }

  async function remove(): Promise<void> {
    engine?.kill("SIGCONT");
    // Only an engine can take its containers down with all that belongs to them.
    await start().catch(() => undefined);
    const containers = await docker.listContainers({ all: true }).catch(() => []);
    await Promise.all(
      containers.map(({ Id }) =>
        docker
          .getContainer(Id)
          .remove({ force: true })
          .catch(() => undefined),
      ),
    );
    await end("SIGTERM");
    await removeScratch(directory);
  }

  try {
    await start();
    await copyImages(options.images ?? ["glovebox/busybox"], docker);
  } catch (error) {
    await remove();
    throw error;
  }

  return {
    socketPath,
    dockerHost,
    docker,
    get pid() {
      return engine?.pid;
    },
    start,
    stop: () => end("SIGTERM"),
    kill: () => end("SIGKILL"),
    freeze() {
      engine?.kill("SIGSTOP");
    },
    thaw() {
      engine?.kill("SIGCONT");
    },
    readLog: () => readFile(logPath, "utf8"),
    remove,
    [Symbol.asyncDispose]: remove,
  };
}

async function answers(docker: Docker): Promise<boolean> {
  return await docker.ping().then(
    () => true,
    () => false,
  );
}

async function copyImages(images: readonly string[], target: Docker): Promise<void> {
  for (const image of images) {
    const archive = await engineClient().getImage(`${image}:latest`).get();
    const progress = await target.loadImage(archive);
    await new Promise((resolve, reject) => target.modem.followProgress(progress, (error) => (error ? reject(error) : resolve(undefined))));
  }
}

/** dockerd takes a pid file whose process is not yet reaped, or whose pid is in use again, for a living daemon. */
async function clearPidFiles(directory: string): Promise<void> {
  const containerd = join(directory, "exec", "containerd", "containerd.pid");
  const pid = Number(await readFile(containerd, "utf8").catch(() => ""));
  if (pid > 0 && (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).includes(directory)) killAll([pid], "SIGKILL");
  await Promise.all([rm(containerd, { force: true }), rm(join(directory, "pid"), { force: true })]);
}
