import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const DIST = fileURLToPath(new URL("../../dist", import.meta.url));

/** A file of the package as it is published. Throws when it was not built. */
export function builtFile(name: string): string {
  const path = join(DIST, name);
  if (!existsSync(path)) throw new Error(`${path} is not there: npm run build makes it.`);
  return path;
}
