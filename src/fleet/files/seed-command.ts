import { GloveboxError } from "../../contract/errors.js";
import type { Environment } from "../../contract/target.js";

export interface SeedCommand {
  /** What the script finds in its environment: values never enter a shell text. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin?: Uint8Array;
  readonly signal?: AbortSignal | undefined;
}

export interface SeedCommandEnd {
  readonly exitCode: number | undefined;
  readonly stdout: string;
  /** The beginning and the end of what it said on stderr, at most some 4 KiB. */
  readonly stderr: string;
}

const MAX_TEXT = 2_000;

/** Runs a script in the sandbox, as its user. Resolves for any exit. */
export async function runInSandbox(environment: Environment, script: string, { env, stdin, signal }: SeedCommand): Promise<SeedCommandEnd> {
  const texts = { stdout: "", stderr: "" };
  const { exitCode } = await environment.exec(script, {
    cwd: environment.cwd,
    env: { ...env, LC_ALL: "C" },
    ...(stdin === undefined ? {} : { stdin }),
    ...(signal === undefined ? {} : { signal }),
    onOutput(chunk, stream) {
      const text = texts[stream] + Buffer.from(chunk).toString();
      texts[stream] = text.length <= 2 * MAX_TEXT ? text : text.slice(0, MAX_TEXT) + text.slice(-MAX_TEXT);
    },
  });
  return { exitCode, ...texts };
}

/** What the end of a script means, beyond its own statuses. */
export function failed(what: string, { exitCode, stderr }: SeedCommandEnd): GloveboxError {
  const said = stderr.trim() === "" ? `exit code ${exitCode ?? "unknown"}` : stderr.trim();
  if (/No space left|Disk quota exceeded|File too large/.test(stderr)) {
    return new GloveboxError("no_space", `${what} found no room: ${said}. Bring less, or give the sandbox more.`, { retrySafe: true });
  }
  if (/Permission denied|Read-only file system/.test(stderr)) {
    return new GloveboxError("permission_denied", `${what} may not be written: ${said}. Choose a directory of the sandbox's user.`, {
      retrySafe: true,
    });
  }
  return new GloveboxError("unexpected", `${what} failed: ${said}. Nothing of it was kept.`, { retrySafe: true });
}
