import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { homedir, hostname } from "node:os";
import { GloveboxError } from "../../src/contract/errors.js";
import type { Verbs } from "../../src/contract/operations.js";
import type { Capabilities, Connection, ConnectOptions, TargetDescription } from "../../src/contract/target.js";
import { createAttributeCopier } from "./attributes.js";
import { BUBBLEWRAP_ISOLATION, bubblewrap } from "./bubblewrap.js";
import { errnoOf, toGloveboxError } from "./errors.js";
import { createExec } from "./exec.js";
import { createFileVerbs } from "./file-verbs.js";
import { sweepLocks } from "./lock.js";
import type { LocalSettings } from "./options.js";
import { checkAbort } from "./pause.js";
import { canonicalRoot, canWalkDescriptors, openRoots } from "./roots.js";
import { createRunRecord, sweepRuns } from "./run-record.js";
import { findSearchTools } from "./search-tools.js";
import { createSearchVerbs } from "./search-verbs.js";
import { findShell } from "./shell.js";

/** Opens the directory, and cleans up after processes of ours that died. */
export async function connectLocal(settings: LocalSettings, { signal, onEvent }: ConnectOptions): Promise<Connection> {
  const { label } = settings;
  checkAbort(signal);
  const root = canonicalRoot(settings.path);
  const record = createRunRecord();
  const isolated = settings.isolation === "bwrap" ? bubblewrap(root, record, settings.allowProtected) : undefined;
  const tools = await findSearchTools(root);
  const swept = await sweep();
  checkAbort(signal);
  for (const [what, removed] of Object.entries(swept)) if (removed > 0) onEvent?.({ type: "target_swept", target: label, removed, what });

  const roots = openRoots(root, settings.path, record);
  const shell = findShell(root, { openFiles: settings.maxOpenFiles, fileBytes: settings.maxFileBytes });
  const attributes = createAttributeCopier(root);
  const files = createFileVerbs({ roots, record, settings, attributes });
  const commands = createExec({ cwd: root, shell, record, env: settings.env, wrap: isolated });
  const search = createSearchVerbs(roots, tools);

  /* What is under way keeps the descriptors that it needs until it is done. */
  const underWay = new Set<Promise<unknown>>();
  const counted = <Arguments extends [string, ...unknown[]], Result>(
    what: (path: string) => string,
    run: (...args: Arguments) => Promise<Result>,
  ) => {
    return async (...args: Arguments): Promise<Result> => {
      if (closing !== undefined)
        throw new GloveboxError("gone", `${label} is closed. Open a new environment to go on.`, { retrySafe: true });
      const job = run(...args);
      underWay.add(job);
      try {
        return await job;
      } catch (error) {
        // What is no error of the kernel comes from the caller's own functions.
        throw errnoOf(error) === undefined ? error : toGloveboxError(error, what(JSON.stringify(args[0])));
      } finally {
        underWay.delete(job);
      }
    };
  };

  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= (async () => {
      const jobs = [...underWay];
      await commands.close();
      await Promise.allSettled(jobs);
      attributes.close();
      roots.close();
      record.remove();
    })();
    return closing;
  };

  const verbs: Omit<Verbs, "grep" | "find"> & Partial<Pick<Verbs, "grep" | "find">> = {
    readFile: counted((path) => `Reading ${path}`, files.readFile),
    writeFile: counted((path) => `Writing ${path}`, files.writeFile),
    stat: counted((path) => `Looking at ${path}`, files.stat),
    readdir: counted((path) => `Listing ${path}`, files.readdir),
    realpath: counted((path) => `Resolving ${path}`, files.realpath),
    // Its text may hold secrets, and errors end in logs.
    exec: counted(() => "Running the command", commands.exec),
    ...(search.grep && { grep: counted((path) => `Searching ${path}`, search.grep) }),
    ...(search.find && { find: counted((path) => `Searching ${path}`, search.find) }),
  };
  const capabilities: Capabilities = {
    exec: true,
    processes: true,
    shell: shell.name,
    symlinks: true,
    hardLinks: true,
    specialFiles: true,
    modes: true,
    durable: settings.durable,
    confinement: canWalkDescriptors() ? "race_free" : "checked",
    grep: search.grep === undefined ? "walk" : "ripgrep",
    find: search.find === undefined ? "walk" : "fd",
  };
  const describe = async (): Promise<TargetDescription> => ({
    kind: "local",
    label,
    isolation: isolated === undefined ? "none: commands run as you, on this machine" : BUBBLEWRAP_ISOLATION,
    warnings: warningsOf(settings, capabilities, files.attributesLost()),
    facts: {
      root,
      user: process.getuid?.() ?? 0,
      shell: shell.name,
      durable: settings.durable,
      hardLinks: settings.hardLinks,
      allowProtected: settings.allowProtected,
      maxFileBytes: Number.isFinite(settings.maxFileBytes) ? settings.maxFileBytes : "unlimited",
      maxOpenFiles: settings.maxOpenFiles,
      attributes: attributes.means,
      ripgrep: tools.ripgrep ?? false,
      fd: tools.fd?.program ?? false,
    },
  });
  return {
    id: machineId(),
    cwd: root,
    root,
    home: process.env.HOME ?? homedir(),
    spoolDirectory: record.spoolDirectory,
    capabilities,
    ...verbs,
    describe,
    close,
  };
}

async function sweep(): Promise<Readonly<Record<string, number>>> {
  return { "temporary files of dead writers": await sweepLocks(), "orphaned processes of dead owners": await sweepRuns() };
}

function warningsOf(
  { isolation, hardLinks, durable, allowProtected }: LocalSettings,
  { confinement }: Capabilities,
  lost: number,
): string[] {
  const root = process.getuid?.() === 0;
  return [
    ...(isolation === "none" ? ["The root confines file tools only: a command reads, writes and stops whatever this account can."] : []),
    ...(isolation === "none" && root ? ["Commands run as root."] : []),
    ...(isolation === "bwrap" ? ["Commands can read what this account can read, secrets in its home directory among it."] : []),
    ...(confinement === "checked"
      ? ["This system cannot walk descriptors: a directory exchanged at the right moment can lead a file tool out of the root."]
      : []),
    ...(hardLinks === "refuse"
      ? []
      : [
          `hardLinks is "${hardLinks}": ${hardLinks === "break" ? "a write cuts a file loose from its other names." : "a write to a file with other names is not atomic."}`,
        ]),
    ...(!durable ? ["durable is off: the last writes can be lost in a power cut."] : []),
    ...(allowProtected
      ? ["allowProtected is on: file tools may write git hooks, shell start-up files and settings of editors and agents."]
      : []),
    ...(lost > 0 ? [`${lost} write(s) could not keep the extended attributes or the ACL of the old file.`] : []),
  ];
}

/** Equal paths mean the same file on one machine. Its own id is not for others to see, so only a hash of it is. */
function machineId(): string {
  let id = hostname();
  try {
    id = readFileSync("/etc/machine-id", "latin1").trim() || id;
  } catch {
    // Not every system has one.
  }
  return `local:${createHash("sha256").update(`glovebox ${id}`).digest("hex").slice(0, 16)}`;
}
