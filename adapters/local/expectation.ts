import { createHash } from "node:crypto";
import { closeSync, lstatSync, type Stats } from "node:fs";
import type { Sha256, WriteFileOptions } from "../../src/contract/operations.js";
import { refusal } from "./errors.js";
import type { LocatedObject } from "./located.js";
import { eachChunk, openRegular } from "./read.js";

/** What a caller expects to be overwritten: compared once, and looked at again right before the rename. */
export interface Expectation {
  /** The file must not exist: the rename itself has to see to it. */
  readonly mustBeNew: boolean;
  /** False when `path` no longer names what was compared. A write that expects nothing is always fine. */
  holds(path: string): boolean;
}

/** Compares. Throws `conflict`, which changed nothing. */
export async function expectation(path: string, existing: LocatedObject | undefined, options: WriteFileOptions): Promise<Expectation> {
  const { ifMatch, signal } = options;
  if (ifMatch === undefined) return { mustBeNew: false, holds: () => true };
  const actual = existing === undefined ? null : await sha256Of(existing, signal);
  if (actual !== ifMatch) throw conflict(path, ifMatch, actual);
  return {
    mustBeNew: ifMatch === null,
    holds(name) {
      const now = lstatSync(name, { throwIfNoEntry: false });
      return existing === undefined ? now === undefined : now !== undefined && isSame(existing.stats, now);
    },
  };
}

function conflict(path: string, expected: Sha256 | null, actual: Sha256 | null): Error {
  const what =
    expected === null
      ? "is there already, and it was to be made new"
      : actual === null
        ? "is not there any more"
        : "is not what it was when it was read: somebody else wrote it";
  return refusal(
    "conflict",
    `${JSON.stringify(path)} ${what}. Nothing was written. Read it again, and write on top of what is there now.`,
    {
      details: { expectedSha256: expected, actualSha256: actual },
    },
  );
}

async function sha256Of(object: LocatedObject, signal: AbortSignal | undefined): Promise<Sha256> {
  const fd = openRegular(object);
  try {
    const hash = createHash("sha256");
    await eachChunk(fd, object.stats.size, (chunk) => hash.update(chunk), signal);
    return hash.digest("hex");
  } finally {
    closeSync(fd);
  }
}

function isSame(one: Stats, other: Stats): boolean {
  return (
    one.ino === other.ino &&
    one.dev === other.dev &&
    one.size === other.size &&
    one.mtimeMs === other.mtimeMs &&
    one.ctimeMs === other.ctimeMs
  );
}
