import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { scratchDirectory } from "./posix-target.js";

/** What POSIX says that every system has, as far as the scripts use it. */
const POSIX =
  "sh cat cp chmod chown cut date dd env find grep head id ln ls mkdir mkfifo mv printf readlink rm rmdir sed sleep sort sync tail tr uname wc xargs".split(
    " ",
  );

/** A PATH on which only these programs are, and wrappers in place of some: scripts for `sh`, in which `$REAL` is the program. */
export function poorPath({
  without = [],
  and = [],
  wrappers = {},
}: {
  readonly without?: readonly string[];
  readonly and?: readonly string[];
  readonly wrappers?: Readonly<Record<string, string>>;
}): string {
  const directory = `${scratchDirectory()}/bin`;
  mkdirSync(directory);
  for (const name of [...POSIX, ...and].filter((each) => !without.includes(each))) {
    const real = execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim();
    const wrapper = wrappers[name];
    if (wrapper === undefined) symlinkSync(real.startsWith("/") ? real : `/usr/bin/${name}`, `${directory}/${name}`);
    else writeFileSync(`${directory}/${name}`, `#!/bin/sh\nREAL=${real.startsWith("/") ? real : `/usr/bin/${name}`}\n${wrapper}\n`);
    if (wrapper !== undefined) chmodSync(`${directory}/${name}`, 0o755);
  }
  return directory;
}
