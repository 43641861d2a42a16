import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach } from "vitest";
import { type LocalOptions, local } from "../../../adapters/local/index.js";
import type { Environment } from "../../../src/contract/target.js";
import { openEnvironment } from "../../../src/environment.js";

/** Undone after each test, the last one first. */
const undo: (() => unknown)[] = [];

afterEach(async () => {
  for (const each of undo.splice(0).reverse()) await each();
});

/** Runs after the test, whatever becomes of it. */
export function afterwards(what: () => unknown): void {
  undo.push(what);
}

/** A directory of this test's own, canonical, removed afterwards; the root lies in it, so that there is something outside. */
export function makeScene(): { readonly outside: string; readonly root: string } {
  const outside = realpathSync(mkdtempSync(join(tmpdir(), "glovebox-local-")));
  afterwards(() => rmSync(outside, { recursive: true, force: true }));
  const root = join(outside, "root");
  mkdirSync(root);
  return { outside, root };
}

/** An environment on `root`, closed afterwards. */
export async function open(root: string, options: LocalOptions = {}): Promise<Environment> {
  const environment = await openEnvironment(local(root, options));
  afterwards(() => environment.close());
  return environment;
}

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function text(data: Uint8Array): string {
  return Buffer.from(data).toString("utf8");
}

/** The code that a call rejects with; `resolved` when it does not. */
export async function codeOf(call: Promise<unknown>): Promise<string> {
  return await call.then(
    () => "resolved",
    (error: { readonly code?: string }) => error.code ?? String(error),
  );
}

/* Bundled once per test file: starting Node with a TypeScript loader takes ten times as long. */
const bundles = new Map<string, Promise<string>>();
const bundleDirectories: string[] = [];

afterAll(() => {
  for (const directory of bundleDirectories) rmSync(directory, { recursive: true, force: true });
});

/** How to run a TypeScript file of the tests with Node. */
export async function nodeArguments(file: URL, ...args: readonly string[]): Promise<string[]> {
  const path = fileURLToPath(file);
  const known = bundles.get(path) ?? bundle(path);
  bundles.set(path, known);
  return [await known, ...args];
}

async function bundle(path: string): Promise<string> {
  const { build } = await import("tsdown");
  const outDir = mkdtempSync(join(tmpdir(), "glovebox-bundle-"));
  bundleDirectories.push(outDir);
  await build({
    entry: [path],
    outDir,
    format: "esm",
    platform: "node",
    dts: false,
    config: false,
    logLevel: "silent",
    report: false,
    deps: { alwaysBundle: [/./] },
    fixedExtension: true,
  });
  return join(outDir, `${basename(path, ".ts")}.mjs`);
}

export interface Child {
  readonly process: ChildProcess;
  /** Resolves with the output and the exit once it has ended. */
  readonly done: Promise<{
    readonly stdout: string;
    readonly stderr: string;
    readonly exitCode: number | null;
    readonly signal: string | null;
  }>;
  /** Resolves when its stdout holds the text. */
  said(text: string): Promise<void>;
}

/** Starts a program; it is killed afterwards if it still runs. */
export function start(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Child {
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ["pipe", "pipe", "pipe"] });
  afterwards(() => child.kill("SIGKILL"));
  let stdout = "";
  let stderr = "";
  const listeners = new Set<() => void>();
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    stdout += chunk;
    for (const listener of listeners) listener();
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
  });
  const done = new Promise<Awaited<Child["done"]>>((resolve) => {
    child.on("close", (exitCode, signal) => resolve({ stdout, stderr, exitCode, signal }));
  });
  const said = (wanted: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (!stdout.includes(wanted)) return;
        listeners.delete(look);
        resolve();
      };
      listeners.add(look);
      look();
      void done.then(({ exitCode }) => reject(new Error(`ended with ${exitCode} before it said ${wanted}: ${stderr}`)));
    });
  return { process: child, done, said };
}

/** Descriptors that this process has open. */
export function openDescriptors(): number {
  return readdirSync("/proc/self/fd").length;
}

/** Whether the process lives, a zombie not counted. */
export function lives(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
}

/** Polls until `condition` holds; fails after a generous deadline. */
export async function eventually(what: string, condition: () => boolean | Promise<boolean>, deadlineMs = 20_000): Promise<void> {
  const givenUpAt = performance.now() + deadlineMs;
  while (!(await condition())) {
    if (performance.now() > givenUpAt) throw new Error(`It did not come about that ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Whether a program is installed. */
export function hasProgram(name: string): boolean {
  return (process.env.PATH ?? "").split(":").some((directory) => directory !== "" && existsSync(join(directory, name)));
}
