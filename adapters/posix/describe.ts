import { GloveboxError } from "../../src/contract/errors.js";
import type { Capabilities, TargetDescription } from "../../src/contract/target.js";
import type { TargetFacts } from "./facts.js";
import { findEngine, grepEngine } from "./search-engines.js";

interface Terms {
  readonly root?: string;
  readonly durable: boolean;
}

export function capabilitiesOf(facts: TargetFacts, { root, durable }: Terms): Capabilities {
  const runs = execRefusal(facts) === undefined;
  return {
    exec: runs,
    processes: runs,
    ...(runs ? { shell: facts.programs.has("bash") ? "bash" : "sh" } : {}),
    symlinks: true,
    hardLinks: true,
    specialFiles: true,
    modes: true,
    durable,
    confinement: root === undefined || root === "/" ? "boundary" : "checked",
    grep: grepEngine(facts) ?? "walk",
    find: findEngine(facts) ?? "walk",
  };
}

/** Why nothing can be written, where that is so. */
export function writeRefusal({ privateDirectory, privateProblem, dd }: TargetFacts): GloveboxError | undefined {
  if (privateDirectory === undefined)
    return refuse(`Nothing can be written safely on this target: locks need a place, and ${privateProblem}.`);
  if (dd === "") return refuse("Nothing can be written on this target: it has no dd that takes an exact number of bytes off a pipe.");
  return undefined;
}

/** Why no command can be run, where that is so. */
export function execRefusal({ privateDirectory, privateProblem, programs }: TargetFacts): GloveboxError | undefined {
  if (privateDirectory === undefined) return refuse(`No command can be run on this target: its pipes need a place, and ${privateProblem}.`);
  if (!programs.has("mkfifo")) return refuse("No command can be run on this target: it has no mkfifo.");
  return undefined;
}

function refuse(why: string): GloveboxError {
  return new GloveboxError("unsupported", `${why} Mount a tmpfs at /tmp, or install coreutils or busybox there.`, { retrySafe: true });
}

/** For adapters to add to: what the probe found, and what is missing. */
export function describe(facts: TargetFacts, { label, root, durable }: Terms & { readonly label: string }): TargetDescription {
  const { programs } = facts;
  const missing = [
    facts.proc ? "" : "There is no /proc: processes that leave their group cannot be found, so they survive an abort.",
    programs.has("setsid") ? "" : "There is no setsid: commands share a session, and are killed one by one.",
    facts.stat ? "" : "There is no stat -c: times are told to the second at best.",
    facts.hasher === undefined ? "There is nothing to compute a SHA-256 with: conditional writes, and so edits, are refused." : "",
    durable && !facts.syncFile ? "There is no sync FILE: every durable write syncs all file systems." : "",
    facts.privateProblem === undefined ? "" : `Neither writes nor commands: ${facts.privateProblem}.`,
    facts.uid === 0 ? "The account is root (uid:0)." : "",
    root === undefined || root === "/" ? "" : "The root is a guard rail: a symlink swapped in between check and use can lead out of it.",
  ];
  return {
    kind: "posix",
    label,
    isolation: "whatever bounds the account on the target",
    warnings: missing.filter((warning) => warning !== ""),
    facts: {
      system: `${facts.system} ${facts.machine}`,
      uid: facts.uid,
      gid: facts.gid,
      umask: facts.umask,
      busybox: facts.busybox,
      shell: programs.has("bash") ? "bash" : "sh",
      temporaryDirectory: facts.privateDirectory ?? "none",
      dd: facts.dd,
      durable,
      grep: grepEngine(facts) ?? "walk",
      find: findEngine(facts) ?? "walk",
      ...(facts.ripgrepVersion === undefined ? {} : { ripgrep: facts.ripgrepVersion }),
      programs: [...programs].sort().join(" "),
    },
  };
}
