import { randomUUID } from "node:crypto";
import { onTestFinished } from "vitest";
import { type SshExtras, type SshOptions, ssh } from "../../../adapters/ssh/index.js";
import type { GloveboxEvent } from "../../../src/contract/events.js";
import type { Target } from "../../../src/contract/target.js";
import { type Environment, type OpenOptions, openEnvironment } from "../../../src/index.js";
import { processesWithEnvironment } from "../../support/processes.js";
import type { SshServer } from "../../support/sshd.js";

/** Options that reach a server of a test, itself or through a proxy, whatever this machine's ssh configuration says. */
export function optionsFor(server: SshServer, at: { readonly host: string; readonly port: number } = server): SshOptions {
  return {
    host: at.host,
    port: at.port,
    user: server.account.name,
    identity: server.privateKeyPath,
    hostKey: server.hostKeyFingerprint,
    config: "none",
    cwd: server.workspace,
  };
}

export function targetFor(
  server: SshServer,
  at?: { readonly host: string; readonly port: number },
  more: Partial<SshOptions> = {},
): Target<SshExtras> {
  return ssh({ ...optionsFor(server, at), ...more });
}

/** Opens a target and closes it when the test is over. */
export async function open<Extras extends object>(target: Target<Extras>, options: OpenOptions = {}): Promise<Environment & Extras> {
  const environment = await openEnvironment(target, options);
  onTestFinished(() => environment.close());
  return environment;
}

/** The code that a promise rejects with, or what it resolved to. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  return await promise.then(
    (value) => `resolved: ${JSON.stringify(value)}`,
    (error: { readonly code?: string }) => error.code ?? String(error),
  );
}

/** A variable that a command and all that it starts bear. */
export function newTag(): { readonly env: { readonly FAULT_TAG: string }; survivors(): Promise<readonly number[]> } {
  const tag = randomUUID();
  const pattern = new RegExp(`(^|\\0)FAULT_TAG=${tag}(\\0|$)`);
  return { env: { FAULT_TAG: tag }, survivors: () => processesWithEnvironment(pattern) };
}

export async function eventually(what: string, holds: () => Promise<boolean> | boolean, ms = 20_000): Promise<void> {
  const started = performance.now();
  while (!(await holds())) {
    if (performance.now() - started > ms) throw new Error(`${what}: still not so after ${ms} ms`);
    await sleep(100);
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

export function text(data: Uint8Array): string {
  return Buffer.from(data).toString("utf8");
}

/** The output and the end of a command. */
export async function run(environment: Pick<Environment, "exec">, command: string, env: Readonly<Record<string, string>> = {}) {
  const output: Uint8Array[] = [];
  const result = await environment.exec(command, { env, onOutput: (chunk) => void output.push(chunk) });
  return { ...result, output: text(Buffer.concat(output)) };
}

export function typesOf(events: readonly GloveboxEvent[]): readonly string[] {
  return events.map(({ type }) => type);
}
