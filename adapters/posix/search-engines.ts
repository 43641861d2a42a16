import type { TargetFacts } from "./facts.js";

/** What a search by content runs on; undefined: on the portable walk. */
export function grepEngine({ programs, ripgrepVersion, privateDirectory, findRegex }: TargetFacts): "ripgrep" | "grep" | undefined {
  if (privateDirectory === undefined) return undefined;
  // Earlier ones do not know all that is asked of it.
  if (programs.has("rg") && majorOf(ripgrepVersion) >= 12) return "ripgrep";
  return programs.has("grep") && programs.has("find") && findRegex ? "grep" : undefined;
}

/** What a search by name runs on; undefined: on the portable walk. */
export function findEngine({
  programs,
  fd,
  privateDirectory,
  findRegex,
  findPrint0,
  sortZ,
  xargs0,
}: TargetFacts): "fd" | "find" | undefined {
  if (privateDirectory === undefined || !sortZ || !xargs0) return undefined;
  if (fd !== undefined) return "fd";
  return programs.has("find") && findRegex && findPrint0 ? "find" : undefined;
}

function majorOf(version: string | undefined): number {
  return Number(/(\d+)\./.exec(version ?? "")?.[1] ?? 0);
}
