import { randomBytes } from "node:crypto";
import { lstatSync, readdirSync, type Stats, unlinkSync } from "node:fs";
import { isAlive, type Owner, ownerOfThisProcess } from "./owner.js";

/** No write takes this long. Younger files may belong to a process of another pid namespace that ours cannot see. */
const STALE_AFTER_MS = 10 * 60 * 1000;

const NAME = /^\.glovebox-tmp-(\d+)-(\d+)-[0-9a-f]+$/;

/** A name for the new bytes of a file until they are renamed: it says who writes them. */
export function temporaryName(): string {
  const { pid, startTicks } = ownerOfThisProcess();
  return `.glovebox-tmp-${pid}-${startTicks}-${randomBytes(8).toString("hex")}`;
}

/** Removes what a process that is provably dead left in `directory`, and says how many files that were. */
export function sweepTemporaryFiles(directory: string, { pid, startTicks }: Owner): number {
  const left = namesIn(directory).filter((name) => name.startsWith(`.glovebox-tmp-${pid}-${startTicks}-`) && NAME.test(name));
  return left.filter((name) => remove(`${directory}/${name}`, () => true)).length;
}

/** Removes `name`, met on the way in a listing, when it is such a file, old, and of no process that runs. */
export function sweepIfStale(directory: string, name: string): boolean {
  const [, pid, startTicks] = NAME.exec(name) ?? [];
  if (pid === undefined || startTicks === undefined || isAlive(Number(pid), startTicks)) return false;
  return remove(`${directory}/${name}`, ({ mtimeMs }) => Date.now() - mtimeMs > STALE_AFTER_MS);
}

function remove(path: string, when: (stats: Stats) => boolean): boolean {
  try {
    const stats = lstatSync(path);
    if (!stats.isFile() || stats.uid !== process.getuid?.() || !when(stats)) return false;
    unlinkSync(path);
    return true;
  } catch {
    return false;
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
