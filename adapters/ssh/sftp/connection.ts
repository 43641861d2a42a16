import { randomBytes } from "node:crypto";
import { GloveboxError } from "../../../src/contract/errors.js";
import type { Connection } from "../../../src/contract/target.js";
import { isWithin } from "../../posix/paths.js";
import { unlessAborted } from "../deadline.js";
import type { SshOptions } from "../options.js";
import type { SshTransport } from "../transport.js";
import { isChannelLost, type SftpChannel } from "./channel.js";
import { readdir } from "./list.js";
import { isPrivate, locksOf } from "./lock.js";
import { kindOf, locate, realpath, stat } from "./paths.js";
import { readFile } from "./read.js";
import { type SftpSession, sftpSession } from "./session.js";
import { writeFile } from "./write.js";

const MAX_READ_BYTES = 256 * 1024 * 1024;
const MAX_TRIES = 3;

/**
 * The file verbs over SFTP, for an account without a POSIX shell; `why` is what became of the shell. Weaker than over a
 * shell, as describe() says: several round trips a verb, no commands, no syncing of directories, hard links not seen.
 */
export async function connectSftp(
  transport: SshTransport,
  options: SshOptions,
  why: GloveboxError,
  signal?: AbortSignal,
): Promise<Connection> {
  const { id, label, link } = transport;
  const session = sftpSession(link, label);
  const first = await session.channel(signal).catch((error: unknown) => {
    throw neither(label, why, error);
  });
  const { home, cwd, root } = await unlessAborted(findPlaces(first, options), signal);
  const { uid } = await first.stat(home);
  const privateDirectory = `/tmp/.glovebox-${uid}`;
  const spoolDirectory = `${privateDirectory}/spool-${randomBytes(8).toString("hex")}`;
  const durable = options.durable !== false && first.has("fsync@openssh.com");
  const hasLocks = (await locksOf(first)) !== undefined;
  const context = { durable, privateDirectory };
  let closed: Promise<void> | undefined;

  async function close(): Promise<void> {
    try {
      const channel = await session.channel();
      if (await isPrivate(channel, privateDirectory, uid)) await removeTree(channel, spoolDirectory);
    } catch {
      // A host that is gone keeps it.
    }
    session.end();
    await transport.close();
  }

  return {
    id,
    cwd,
    home,
    ...(root !== undefined && { root }),
    spoolDirectory,
    capabilities: {
      exec: false,
      processes: false,
      symlinks: true,
      hardLinks: false,
      specialFiles: true,
      modes: true,
      durable,
      confinement: "boundary",
      grep: "walk",
      find: "walk",
    },
    readFile: (path, read = {}) => using(session, read.signal, (channel) => readFile(channel, path, MAX_READ_BYTES, read)),
    // From the first byte on it settles with what became of it, aborted or not.
    writeFile: async (path, data, write = {}) => await writeFile(await session.channel(write.signal), context, path, data, write),
    stat: (path, verb) => using(session, verb?.signal, (channel) => stat(channel, path)),
    readdir: (path, verb) => using(session, verb?.signal, (channel) => readdir(channel, path)),
    realpath: (path, verb) => using(session, verb?.signal, (channel) => realpath(channel, path)),
    describe: async () => ({
      kind: "ssh",
      label,
      isolation: "the account on the host, by SFTP alone",
      warnings: [
        `No commands: no POSIX shell answers there (${why.message}).`,
        "Over SFTP a verb takes several round trips, a directory is not synced, and a file's other names (hard links) are not seen.",
        ...(durable || options.durable === false
          ? []
          : ["The server cannot sync a file (fsync@openssh.com): a write may not outlive a power cut."]),
        ...(hasLocks
          ? []
          : ["There is no place for locks: two processes that write one file at the same moment can lose one of the writes."]),
      ],
      facts: { durable, locks: hasLocks, uid },
    }),
    close() {
      closed ??= close();
      return closed;
    },
  };
}

/** Reading does no harm when nobody waits for it any more, nor when it is done again because its channel was lost. */
async function using<Result>(
  session: SftpSession,
  signal: AbortSignal | undefined,
  work: (channel: SftpChannel) => Promise<Result>,
): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await unlessAborted(work(await session.channel(signal)), signal);
    } catch (error) {
      if (!isChannelLost(error) || tries === MAX_TRIES) throw error;
    }
  }
}

async function findPlaces(
  channel: SftpChannel,
  options: SshOptions,
): Promise<{ readonly home: string; readonly cwd: string; readonly root?: string }> {
  const home = await channel.realpath(".");
  const place = async (path: string): Promise<string> => {
    const { canonicalPath, facts } = await locate(channel, path);
    if (kindOf(facts) === "directory") return canonicalPath;
    throw new GloveboxError("not_directory", `${JSON.stringify(path)} is not a directory. Choose one to work in.`, {
      retrySafe: true,
      path,
    });
  };
  const root = options.root === undefined ? undefined : await place(options.root);
  const cwd = await place(options.cwd ?? root ?? home);
  if (root !== undefined && !isWithin(root, cwd)) {
    throw new GloveboxError("invalid_argument", `The working directory ${cwd} is not inside the root ${root}. Choose one that is.`, {
      retrySafe: true,
    });
  }
  return { home, cwd, ...(root !== undefined && { root }) };
}

async function removeTree(channel: SftpChannel, directory: string): Promise<void> {
  for (const { filename, attrs } of await channel.readdir(directory)) {
    const at = `${directory}/${filename}`;
    if (kindOf(attrs) === "directory") await removeTree(channel, at);
    else await channel.unlink(at);
  }
  await channel.rmdir(directory);
}

function neither(label: string, shell: GloveboxError, sftp: unknown): GloveboxError {
  const other = sftp instanceof Error ? sftp.message : String(sftp);
  const message = `The account of ${label} offers neither a POSIX shell nor SFTP. Shell: ${shell.message} SFTP: ${other} Give it a login shell that runs /bin/sh, or SFTP.`;
  return new GloveboxError("unsupported", message, { cause: shell, retrySafe: true });
}
