import type { Environment } from "../contract/target.js";
import { runCommand } from "./run-command.js";

/** A variable that marks a command and all that it starts, so that a case finds what is left of it. */
export const TAG = "CONTRACT_TAG";

/**
 * The pids on the target that bear the tag. Zombies do not count: they have no environment any more. The tag travels by
 * stdin, so that the search does not find itself.
 */
export async function survivors(environment: Pick<Environment, "exec">, tag: string): Promise<readonly number[]> {
  const { stdout } = await runCommand(environment, `read -r tag; grep -ls "${TAG}=$tag" /proc/[0-9]*/environ`, {
    stdin: Buffer.from(`${tag}\n`),
  });
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => Number(line.split("/")[2]));
}
