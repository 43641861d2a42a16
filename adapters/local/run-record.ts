import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { isProvablyDead, ownerOfThisProcess, ownerText, parseOwner } from "./owner.js";
import { existingPrivateDirectory, openPrivateDirectory, privateDirectoryPath } from "./private-directory.js";
import { findTagged, killRun } from "./processes.js";

/** What a connection leaves on the machine while it lives, named so that others can tell whose it is. */
export interface RunRecord {
  /** Begins the tag of every run of this connection. */
  readonly prefix: string;
  /** Pipes and scripts of the commands that run. */
  readonly directory: string;
  readonly spoolDirectory: string;
  /** A fresh tag. */
  nextTag(): string;
  /** Makes the record, so that a later process can clean up after a crash. True when it was not there: never made, or cleaned away. */
  open(): boolean;
  /** Makes the spool. Idempotent. */
  openSpool(): void;
  /** Removes all of it. */
  remove(): void;
}

const NAME = /^run-([0-9a-f-]{24})(.+)$/;

export function createRunRecord(): RunRecord {
  const prefix = randomUUID().slice(0, 24);
  const base = privateDirectoryPath();
  const directory = `${base}/run-${prefix}${ownerText(ownerOfThisProcess())}`;
  const spoolDirectory = `${base}/${spoolName(prefix)}`;
  let runs = 0;

  const open = (): boolean => {
    if (existsSync(directory)) return false;
    openPrivateDirectory();
    mkdirSync(directory, { mode: 0o700 });
    return true;
  };
  return {
    prefix,
    directory,
    spoolDirectory,
    nextTag() {
      runs += 1;
      return prefix + runs.toString(16).padStart(12, "0");
    },
    open,
    openSpool() {
      open();
      mkdirSync(spoolDirectory, { mode: 0o700, recursive: true });
    },
    remove() {
      remove(spoolDirectory);
      remove(directory);
    },
  };
}

/** Kills what commands of provably dead processes left running, and removes their records. Says how many processes those were. */
export async function sweepRuns(): Promise<number> {
  const base = existingPrivateDirectory();
  if (base === undefined) return 0;
  let orphans = 0;
  for (const name of readdirSync(base)) {
    const [, prefix, text] = NAME.exec(name) ?? [];
    const owner = text === undefined ? undefined : parseOwner(text);
    if (prefix === undefined || owner === undefined || !isProvablyDead(owner)) continue;
    // After a reboot there is nothing left to kill.
    if (owner.bootId === ownerOfThisProcess().bootId) {
      orphans += findTagged(prefix).length;
      await killRun({ tag: prefix });
    }
    remove(`${base}/${spoolName(prefix)}`);
    remove(`${base}/${name}`);
  }
  return orphans;
}

function spoolName(prefix: string): string {
  return `spool-${prefix.slice(0, -1)}`;
}

function remove(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 2 });
}
