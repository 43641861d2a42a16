import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { Environment } from "../contract/target.js";
import { UsageError } from "./output.js";

/** The policy that holds: the file of the flag, or the user's own where there is one. Never one that a project brings along. */
export function readPolicyFile(flag: string | undefined): { readonly file: string; readonly text: string } | undefined {
  const file = flag ?? join(userConfigDirectory(), "policy.json");
  return flag === undefined && !existsSync(file) ? undefined : { file, text: readGuarded(file, "policy") };
}

/** Refuses a policy that the tools it is to bind could change. */
export function refuseReachablePolicy(file: string, environments: readonly Environment[]): void {
  const canonical = realpathSync(file);
  const inside = environments.find((environment) => canReach(environment, canonical));
  if (inside === undefined) return;
  throw new UsageError(
    `the policy ${file} lies in the target ${inside.label}, whose tools could change it: keep it outside, or narrow the target`,
  );
}

/** The file's text, if nobody but its owner or root could have written it. */
export function readGuarded(file: string, what: string): string {
  try {
    const { uid, mode } = statSync(file);
    const me = process.getuid?.();
    if (me !== undefined && uid !== me && uid !== 0) throw new UsageError(`the ${what} file ${file} belongs to somebody else`);
    if (me !== undefined && (mode & 0o022) !== 0) throw new UsageError(`the ${what} file ${file} can be written by others: chmod go-w it`);
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`cannot read the ${what} file: ${(error as Error).message}`);
  }
}

/** `$XDG_CONFIG_HOME/glovebox`, or `~/.config/glovebox`. A relative XDG_CONFIG_HOME is to be ignored, its specification says. */
function userConfigDirectory(): string {
  const { XDG_CONFIG_HOME: configured = "" } = process.env;
  return join(isAbsolute(configured) ? configured : join(homedir(), ".config"), "glovebox");
}

/** Whether the environment's file tools can get at that file of this machine. */
function canReach({ kind, root }: Environment, file: string): boolean {
  return kind === "local" && root !== undefined && (root === "/" || file.startsWith(`${root}/`));
}
