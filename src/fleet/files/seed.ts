import { GloveboxError } from "../../contract/errors.js";
import type { Environment } from "../../contract/target.js";
import type { Bytes } from "./archive-bytes.js";
import { DEFAULT_LIMITS, type Member, type SeedLimits } from "./archive-members.js";
import { readArchive } from "./archive-read.js";
import { readDirectory } from "./seed-directory.js";
import { type GitSeed, seedGit } from "./seed-git.js";
import { seedSink } from "./seed-sink.js";

export interface DirectorySeed {
  /** Where the directory is, this machine for one: `await openEnvironment(local("project"))`. */
  readonly environment: Environment;
  /** Default its working directory. */
  readonly directory?: string;
  /** Paths below it that are left out: `(path) => path.endsWith("node_modules")`. */
  exclude?(path: string): boolean;
}

export interface ArchiveSeed {
  /** A tar, plain or gzipped: its bytes, or a stream of them. */
  readonly archive: Uint8Array | Bytes;
}

export type Seed = DirectorySeed | ArchiveSeed | GitSeed;

export interface SeedOptions {
  /** Made if missing. Default the working directory. */
  readonly into?: string;
  readonly limits?: SeedLimits;
  /** What becomes of symlinks and hard links. Default "refuse": the whole seed is. A clone's are git's own affair. */
  readonly links?: "refuse" | "skip";
  readonly signal?: AbortSignal;
}

export interface Seeded {
  /** Files, and for a clone directories, too. */
  readonly files: number;
  readonly bytes: number;
  /** Links that were left out. */
  readonly skipped: readonly string[];
}

const MAX_TOLD = 1_000;

/**
 * Brings files into a sandbox, through its lanes and as its user; for `prepare`. They are first gathered in a fresh directory,
 * and moved into place when all are there; on any error that directory is removed. Of a mode the executable bit is kept, of
 * owners and times nothing. Rejects `invalid_argument` for what is hostile or damaged, `too_large` beyond a limit, `exists` for
 * a name that is there already, `no_space`; for a clone `disconnected`, `auth_failed`, `not_found`, `unsupported`. A target
 * that runs no commands takes the files one by one at the end, keeps no executable bit, no empty directory, and what was
 * written before a failure.
 */
export async function seed(environment: Environment, source: Seed, options: SeedOptions = {}): Promise<Seeded> {
  const { into = ".", links = "refuse", signal } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  for (const [name, value] of Object.entries(limits)) {
    if (!(value > 0))
      throw new GloveboxError("invalid_argument", `The limit ${name} must be more than 0, not ${value}.`, { retrySafe: true });
  }
  if ("git" in source) return { ...(await seedGit(environment, into, source, { limits, signal })), skipped: [] };
  const skipped: string[] = [];
  const onSkipped = (name: string): void => {
    if (skipped.length < MAX_TOLD) skipped.push(name);
  };
  const members =
    "archive" in source
      ? readArchive(source.archive instanceof Uint8Array ? [source.archive] : source.archive, { limits, links, onSkipped })
      : readDirectory(source.environment, source.directory ?? source.environment.cwd, {
          limits,
          links,
          onSkipped,
          exclude: (path) => source.exclude?.(path) ?? false,
          signal,
        });
  return { ...(await bring(environment, into, members, signal)), skipped };
}

async function bring(
  environment: Environment,
  into: string,
  members: AsyncIterable<Member>,
  signal: AbortSignal | undefined,
): Promise<{ readonly files: number; readonly bytes: number }> {
  const sink = await seedSink(environment, into, signal);
  let files = 0;
  let bytes = 0;
  try {
    for await (const member of members) {
      await sink.add(member);
      if (member.kind === "directory") continue;
      files += 1;
      bytes += member.size;
    }
    await sink.finish();
  } catch (error) {
    await sink.discard();
    throw error;
  }
  return { files, bytes };
}
