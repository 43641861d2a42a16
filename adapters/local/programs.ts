import { accessSync, constants, realpathSync, statSync } from "node:fs";

const USUAL_DIRECTORIES = ["/usr/local/bin", "/usr/bin", "/bin", "/opt/homebrew/bin"];

/**
 * Where a program is, by PATH and the usual places; undefined when nowhere. Relative parts of PATH and what lies inside
 * `root` are left out: what is in a workspace is not ours to run.
 */
export function findProgram(name: string, root: string): string | undefined {
  const directories = [...(process.env.PATH ?? "").split(":"), ...USUAL_DIRECTORIES];
  const candidates = directories.filter((directory) => directory.startsWith("/")).map((directory) => `${directory}/${name}`);
  return candidates.find((path) => isExecutable(path) && !liesIn(path, root));
}

function liesIn(path: string, root: string): boolean {
  return root !== "/" && realpathSync(path).startsWith(`${root}/`);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
