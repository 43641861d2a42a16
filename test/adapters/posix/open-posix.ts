import { execFileSync } from "node:child_process";
import { afterEach } from "vitest";
import { connectPosix, type PosixConnection, type PosixOptions } from "../../../adapters/posix/index.js";
import { type LocalTransport, type LocalTransportOptions, localTransport } from "./local-transport.js";
import { scratchDirectory } from "./posix-target.js";

export interface OpenPosix {
  readonly connection: PosixConnection;
  readonly transport: LocalTransport;
  /** The connection's working directory: fresh, removed after the test. */
  readonly directory: string;
}

const cleanups: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A connection to this machine in a fresh directory. Closed, and the directory removed, after the test. */
export async function openPosix(options: PosixOptions & { readonly transport?: LocalTransportOptions } = {}): Promise<OpenPosix> {
  const { transport: transportOptions, ...rest } = options;
  const directory = scratchDirectory();
  // Node's own way recurses, and some of these trees are deep.
  cleanups.push(() => void execFileSync("rm", ["-rf", "--", directory]));
  const transport = localTransport(transportOptions);
  const connection = await connectPosix(transport, { durable: false, cwd: directory, ...rest });
  cleanups.push(() => connection.close());
  return { connection, transport, directory };
}

export async function eventually(what: string, holds: () => boolean | Promise<boolean>, ms = 20_000): Promise<void> {
  const begun = performance.now();
  while (!(await holds())) {
    if (performance.now() - begun > ms) throw new Error(`${what}: still not so after ${ms} ms`);
    await sleep(50);
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Everything that a command says on stdout. */
export async function outputOf(
  connection: PosixConnection,
  command: string,
  options: Parameters<PosixConnection["exec"]>[1] = {},
): Promise<string> {
  const chunks: Uint8Array[] = [];
  await connection.exec(command, {
    ...options,
    onOutput(chunk, stream) {
      if (stream === "stdout") chunks.push(chunk);
    },
  });
  return Buffer.concat(chunks).toString();
}
