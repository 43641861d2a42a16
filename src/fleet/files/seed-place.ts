import { randomBytes } from "node:crypto";
import { join, resolve } from "node:path/posix";
import { GloveboxError } from "../../contract/errors.js";
import type { Environment } from "../../contract/target.js";
import { failed, runInSandbox } from "./seed-command.js";

/** A fresh directory beside what a seed will become, on the same file system. */
export interface Place {
  /** Absolute. */
  readonly directory: string;
  /** Whether the sandbox has a tar. */
  readonly hasTar: boolean;
  /** Moves its content to where it belongs. Rejects `exists`, with nothing moved, when something of these names is there already. */
  settle(expectedFiles: number | undefined): Promise<void>;
  /** Never rejects. */
  remove(): Promise<void>;
}

const BEGIN = 'umask 022; mkdir -p -- "$INTO" && mkdir -m 700 -- "$FRESH" || exit; command -v tar >/dev/null && echo tar; exit 0';

const ENOUGH = 91;
const TAKEN = 92;

const SETTLE = `cd -P -- "$FRESH" || exit
n=$(find . -type f -print0 | tr -dc '\\0' | wc -c)
[ -z "$COUNT" ] || [ "$((n))" -eq "$COUNT" ] || { echo "$((n))"; exit ${ENOUGH}; }
for f in * .[!.]* ..?*; do
  [ -e "$f" ] || [ -L "$f" ] || continue
  if [ -e "$INTO/$f" ] || [ -L "$INTO/$f" ]; then printf '%s' "$f"; exit ${TAKEN}; fi
done
set --
for f in * .[!.]* ..?*; do
  [ -e "$f" ] || [ -L "$f" ] || continue
  if mv -- "$f" "$INTO/$f"; then set -- "$@" "$f"; continue; fi
  for f do rm -rf -- "$INTO/$f"; done
  exit 1
done
cd / && rmdir -- "$FRESH"`;

export async function freshPlace(environment: Environment, into: string, signal: AbortSignal | undefined): Promise<Place> {
  const target = resolve(environment.cwd, into);
  const directory = join(target, `.glovebox-seed-${randomBytes(8).toString("hex")}`);
  const env = { INTO: target, FRESH: directory };
  async function remove(): Promise<void> {
    // Without the caller's signal: what it ended is cleaned up all the same.
    await runInSandbox(environment, 'chmod -R u+rwx -- "$FRESH" 2>/dev/null; rm -rf -- "$FRESH"', { env }).catch(() => undefined);
  }

  const begun = await runInSandbox(environment, BEGIN, { env, signal }).catch(async (error: unknown) => {
    await remove();
    throw error;
  });
  if (begun.exitCode !== 0) throw failed(`The directory ${target}`, begun);
  return {
    directory,
    hasTar: begun.stdout.includes("tar"),
    async settle(expectedFiles) {
      const end = await runInSandbox(environment, SETTLE, { env: { ...env, COUNT: `${expectedFiles ?? ""}` }, signal });
      if (end.exitCode === 0) return;
      if (end.exitCode === TAKEN) {
        const message = `The seed has ${JSON.stringify(end.stdout)}, and ${target} has one already. Seed an empty directory (into).`;
        throw new GloveboxError("exists", message, { retrySafe: true, path: join(target, end.stdout) });
      }
      if (end.exitCode === ENOUGH) {
        const message = `Of ${expectedFiles} files of the seed ${end.stdout.trim()} arrived: names that differ by case or form only may be one there.`;
        throw new GloveboxError("conflict", `${message} Rename them.`, { retrySafe: true });
      }
      throw failed(`Moving the seed to ${target}`, end);
    },
    remove,
  };
}
