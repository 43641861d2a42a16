import { GloveboxError } from "../../src/contract/errors.js";

/** What the probe found on a target. JSON-safe, for `describe` and `doctor`. */
export interface TargetFacts {
  readonly system: string;
  readonly machine: string;
  readonly uid: number;
  readonly gid: number;
  readonly umask: string;
  readonly bootId: string;
  /** Inode of the pid namespace; "0" where that cannot be told. */
  readonly pidNamespace: string;
  /** /proc can be read: processes can be found by their environment. */
  readonly proc: boolean;
  readonly busybox: boolean;
  /** Our directory on the target; undefined when there is none that is ours alone. */
  readonly privateDirectory?: string;
  /** Why there is none. */
  readonly privateProblem?: string;
  readonly home?: string;
  /** Prints the SHA-256 of its stdin. */
  readonly hasher?: string;
  /** Programs that are there. */
  readonly programs: ReadonlySet<string>;
  /** Operands with which `dd` reads exactly so many bytes; "" when it cannot. */
  readonly dd: string;
  /** `dd conv=fsync`. */
  readonly ddFsync: boolean;
  /** `stat -c`. */
  readonly stat: boolean;
  /** `sync FILE`. */
  readonly syncFile: boolean;
  /** `mv -T`. */
  readonly mvT: boolean;
  readonly headC: boolean;
  readonly findPrintf: boolean;
  readonly findPrint0: boolean;
  /** `find -regex`, with groups and alternatives as everywhere. */
  readonly findRegex: boolean;
  /** A fd (Debian calls it fdfind) that knows all that is asked of it; `everywhere`: it honours .gitignore outside repositories too. */
  readonly fd?: { readonly program: string; readonly everywhere: boolean };
  readonly grepZ: boolean;
  /** `grep -I`. */
  readonly grepBinary: boolean;
  readonly sortZ: boolean;
  readonly xargs0: boolean;
  /** `sleep` takes fractions. */
  readonly nap: boolean;
  readonly ripgrepVersion?: string;
}

export function parseFacts(body: Buffer): TargetFacts {
  const values = new Map<string, string>();
  const programs = new Set<string>();
  for (const line of body.toString("utf8").split("\n")) {
    const [name = "", ...rest] = line.split(" ");
    const value = rest.join(" ").trimEnd();
    if (name === "has") programs.add(value);
    else values.set(name, value);
  }
  const text = (name: string): string => values.get(name) ?? "";
  const is = (name: string, wanted = "1"): boolean => text(name) === wanted;
  const number = (name: string): number => (/^\d+$/.test(text(name)) ? Number(text(name)) : 0);
  if (!values.has("dd")) {
    throw new GloveboxError("unsupported", "The shell on the target did not say what the target has. A POSIX sh is needed.");
  }
  const temporary = text("temporary");
  return {
    system: text("system"),
    machine: text("machine"),
    uid: number("uid"),
    gid: number("gid"),
    umask: text("umask"),
    bootId: text("boot"),
    pidNamespace: /^\d+$/.test(text("namespace")) ? text("namespace") : "0",
    proc: is("proc"),
    busybox: is("busybox"),
    ...(is("private") && temporary !== "" ? { privateDirectory: temporary } : { privateProblem: privateProblem(temporary) }),
    ...(text("home").startsWith("/") ? { home: text("home") } : {}),
    ...hasherOf(programs),
    programs,
    dd: text("dd"),
    ddFsync: is("fsync"),
    stat: is("stat"),
    syncFile: is("sync_file"),
    mvT: is("mv_t"),
    headC: is("head_c", "ab"),
    findPrintf: is("find_printf"),
    findPrint0: is("find_print0"),
    findRegex: is("find_regex", "/"),
    ...(text("fd") === "" ? {} : { fd: { program: text("fd"), everywhere: is("fd_everywhere") } }),
    grepZ: is("grep_z"),
    grepBinary: is("grep_i", "0"),
    sortZ: is("sort_z", "a b"),
    xargs0: is("xargs_0", "a b"),
    nap: is("nap"),
    ...(text("rg_version") === "" ? {} : { ripgrepVersion: text("rg_version") }),
  };
}

function hasherOf(programs: ReadonlySet<string>): Pick<TargetFacts, "hasher"> {
  if (programs.has("sha256sum")) return { hasher: "sha256sum" };
  if (programs.has("shasum")) return { hasher: "shasum -a 256" };
  return programs.has("openssl") ? { hasher: "openssl dgst -sha256" } : {};
}

function privateProblem(temporary: string): string {
  if (temporary === "") return "neither /tmp nor /var/tmp nor /dev/shm can be written by this account";
  return `${temporary} is not a directory of this account's own with mode 0700: somebody may be tampering with it`;
}
