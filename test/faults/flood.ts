import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import type { DockerOptions } from "../../adapters/docker/index.js";
import type { SshOptions } from "../../adapters/ssh/index.js";
import { runCommand } from "../support/run-command.js";

/** One of the three. */
export interface FloodedTarget {
  readonly root?: string;
  readonly dockerOptions?: DockerOptions;
  readonly sshOptions?: SshOptions;
}

/** The promise: so much may a process grow while a command floods it. */
const MAX_GROWTH_MIB = 64;

/** Runs the command in a process of its own, which must not grow; resolves to its exit code and how many bytes arrived. */
export async function flood(target: FloodedTarget, command: string, reader: "quick" | "slow" | "unread"): Promise<Record<string, number>> {
  const program = fileURLToPath(new URL("./flood-program.ts", import.meta.url));
  const options = ["--expose-gc", "--import", "tsx", program, JSON.stringify(target), command, reader];
  const { stdout } = await runCommand(process.execPath, options);
  const { growthMib, lagP99Ms, ...rest } = JSON.parse(stdout) as Record<string, number>;
  expect(growthMib, `${command} grew it by so many MiB (event loop ${lagP99Ms} ms late)`).toBeLessThan(MAX_GROWTH_MIB);
  return rest;
}
