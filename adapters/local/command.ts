import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, rmSync, statSync, writeFileSync } from "node:fs";
import { abortError, GloveboxError } from "../../src/contract/errors.js";
import type { ExecOptions, ExecResult } from "../../src/contract/operations.js";
import { commandEnvironment } from "./command-environment.js";
import { errnoOf, refusal } from "./errors.js";
import { type Output, openInput, openOutput } from "./output.js";
import { checkAbort, pause } from "./pause.js";
import type { PipePool } from "./pipes.js";
import { allPids, findTagged, isBecoming, killRun, lastPid, outOfMemoryKills } from "./processes.js";
import type { RunRecord } from "./run-record.js";
import type { Shell, ShellStart } from "./shell.js";

/** What commands of one connection share. */
export interface CommandHost {
  readonly cwd: string;
  readonly shell: Shell;
  readonly record: RunRecord;
  readonly pipes: PipePool;
  readonly env: Readonly<Record<string, string>>;
  /** Wraps what is started, for isolation. */
  readonly wrap: (start: ShellStart, cwd: string) => ShellStart;
  readonly closing: Closing;
}

/** The end of the connection, as its commands see it. */
export interface Closing {
  /** Set once it has begun: nothing may be started any more. */
  error?: GloveboxError;
  /** What each running command does then. */
  readonly listeners: Set<(error: GloveboxError) => void>;
}

/** Output is read for so long after the exit, in case a background process holds the pipe. */
const DRAIN_MS = 250;
const DRAIN_STEP_MS = 25;

/** An argument of 128 KiB or more is refused by the kernel. */
const MAX_ARGUMENT_BYTES = 120_000;

/** Commands shorter than this leave so few new processes behind that looking at those is enough. */
const SHORT_MS = 2_000;
/** How often, and after how long, one looks again for who is just becoming another program. */
const MAX_LOOKS = 5;
const LOOK_AGAIN_MS = 2;

/** Runs one command. Keeps every promise of `ShellVerbs.exec`. */
export async function runCommand(host: CommandHost, command: string, options: ExecOptions): Promise<ExecResult> {
  const { record, pipes, closing } = host;
  const { signal } = options;
  const cwd = options.cwd ?? host.cwd;
  checkAbort(signal);
  checkDirectory(cwd);
  const tag = record.nextTag();
  const script = `${record.directory}/script-${tag}`;
  const [stdout, stderr, stdin] = await Promise.all([
    pipes.takeOutput(),
    pipes.takeOutput(),
    options.stdin === undefined ? undefined : pipes.takeInput(),
  ]);
  const before = { pid: lastPid(), atMs: performance.now(), killed: outOfMemoryKills() };
  let started: Started;
  try {
    checkAbort(signal);
    if (closing.error !== undefined) throw closing.error;
    const start = shellStart(host, command, script);
    const env = { ...commandEnvironment(host.env, options.env ?? {}), ...start.env, GLOVEBOX_RUN: tag };
    const stdio = [stdin?.readFd ?? ("ignore" as const), stdout.writeFd, stderr.writeFd];
    started = await startProcess(host.wrap(start, cwd), { cwd, env, stdio });
  } catch (error) {
    for (const pipe of [stdout, stderr]) {
      closeSync(pipe.readFd);
      pipe.release(true);
    }
    if (stdin !== undefined) closeSync(stdin.writeFd);
    throw error;
  } finally {
    for (const fd of [stdout.writeFd, stderr.writeFd, stdin?.readFd]) if (fd !== undefined) closeSync(fd);
  }

  let fail: (error: unknown) => void = () => {};
  const failure = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  failure.catch(() => undefined);
  const abort = (): void => fail(abortError(signal as AbortSignal));
  signal?.addEventListener("abort", abort, { once: true });
  if (signal?.aborted) abort();
  closing.listeners.add(fail);
  const outputs = [openOutput(stdout, "stdout", options.onOutput, fail), openOutput(stderr, "stderr", options.onOutput, fail)];
  const input = stdin && openInput(stdin, options.stdin ?? new Uint8Array());
  try {
    const exit = await Promise.race([started.exit, failure]);
    await Promise.race([drain(outputs), failure]);
    const background = await leftBehind(tag, before);
    for (const output of outputs) output.discard();
    return {
      ...exit,
      ...(wasKilledForMemory(exit, before.killed) ? { outOfMemory: true } : {}),
      ...(background.length > 0 ? { background } : {}),
    };
  } catch (error) {
    const survivors = await killRun({ tag, leader: started.pid });
    for (const output of outputs) output.destroy();
    if (survivors.length === 0) throw error;
    throw new GloveboxError(
      "unknown_outcome",
      `The command was to be stopped, but ${survivors.join(", ")} would not die. Look at these processes.`,
      {
        details: { survivors },
        cause: error,
      },
    );
  } finally {
    signal?.removeEventListener("abort", abort);
    closing.listeners.delete(fail);
    input?.destroy();
    rmSync(script, { force: true });
  }
}

interface Started {
  readonly pid: number;
  readonly exit: Promise<ExecResult>;
}

interface Standing {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdio: ("ignore" | number)[];
}

async function startProcess({ argv, argv0 }: ShellStart, { cwd, env, stdio }: Standing): Promise<Started> {
  const [program, ...args] = argv;
  let child: ChildProcess;
  try {
    child = spawn(program, args, { argv0, cwd, env, stdio, detached: true });
  } catch (cause) {
    throw notStarted(cause);
  }
  const exit = new Promise<ExecResult>((resolve) => {
    child.once("exit", (exitCode, signal) => resolve(signal === null ? { exitCode: exitCode ?? 0 } : { signal }));
  });
  const { pid } = child;
  if (pid !== undefined) return { pid, exit };
  throw notStarted(await new Promise((resolve) => child.once("error", resolve)));
}

function notStarted(cause: unknown): Error {
  const why = errnoOf(cause) === "E2BIG" ? "its environment variables are too large (128 KiB each at most)" : String(cause);
  return refusal("not_started", `The command did not start: ${why}. Nothing was run.`, { cause });
}

function checkDirectory(cwd: string): void {
  let found = false;
  try {
    found = statSync(cwd).isDirectory();
  } catch {
    // Said below.
  }
  if (!found)
    throw refusal(
      "not_started",
      `The working directory ${JSON.stringify(cwd)} is not there, or no directory. Nothing was run: make it first, or choose another.`,
    );
}

function shellStart({ shell, record }: CommandHost, command: string, script: string): ShellStart {
  const limits = `${record.directory}/limits`;
  if (Buffer.byteLength(command) < MAX_ARGUMENT_BYTES) return shell.start(command, limits);
  writeFileSync(script, command, { mode: 0o600 });
  return shell.startScript(script, limits);
}

/** Until both pipes are at their end, or for 250 ms, not counting what the caller takes to accept what is there. */
async function drain(outputs: readonly Output[]): Promise<void> {
  let ended = false;
  const allEnded = Promise.all(outputs.map((output) => output.ended)).then(() => {
    ended = true;
  });
  for (let waitedMs = 0; !ended && waitedMs < DRAIN_MS; ) {
    await Promise.race([allEnded, pause(DRAIN_STEP_MS)]);
    if (!outputs.some((output) => output.isHeldBack())) waitedMs += DRAIN_STEP_MS;
  }
}

interface Before {
  readonly pid: number | undefined;
  readonly atMs: number;
}

/** The processes of the run that are still there. Only those are looked at that came after it, when that can be told by their pids. */
async function leftBehind(tag: string, before: Before): Promise<readonly number[]> {
  for (let looks = 1; ; looks += 1) {
    const now = lastPid();
    const countedUp = before.pid !== undefined && now !== undefined && now >= before.pid && performance.now() - before.atMs < SHORT_MS;
    const pids = countedUp ? allPids().filter((pid) => pid > (before.pid ?? 0) && pid <= now) : allPids();
    const found = findTagged(tag, pids);
    if (found.length > 0 || looks === MAX_LOOKS || !pids.some(isBecoming)) return found;
    await pause(LOOK_AGAIN_MS);
  }
}

function wasKilledForMemory({ exitCode, signal }: ExecResult, before: number | undefined): boolean {
  if (signal !== "SIGKILL" && exitCode !== 137) return false;
  const now = outOfMemoryKills();
  return before !== undefined && now !== undefined && now > before;
}
