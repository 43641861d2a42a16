import { type ErrorCode, type ErrorFacts, GloveboxError } from "../../src/contract/errors.js";

interface Meaning {
  readonly code: ErrorCode;
  readonly sentence: string;
}

/** What an error number of the kernel says about a path. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  ENOENT: { code: "not_found", sentence: "there is nothing of that name. List its directory to see what is there." },
  EEXIST: { code: "exists", sentence: "something of that name is there already." },
  EISDIR: { code: "is_directory", sentence: "it is a directory. Name a file in it, or list it." },
  ENOTDIR: {
    code: "not_directory",
    sentence: "a part of the path that should be a directory is not one. List the parent to see what it is.",
  },
  ELOOP: { code: "loop", sentence: "its symlinks lead round in a circle, or through more than 40 of them. Name the real file." },
  EACCES: { code: "permission_denied", sentence: "the account that Glovebox runs as may not do that. Check owner and mode." },
  EPERM: {
    code: "permission_denied",
    sentence: "the kernel does not permit it (another owner, or an immutable file). Check owner and attributes.",
  },
  EROFS: { code: "permission_denied", sentence: "the filesystem is mounted read-only. Choose a path on another one." },
  ENOSPC: { code: "no_space", sentence: "the disk is full, or out of inodes. Free some space, then do it again." },
  EDQUOT: { code: "no_space", sentence: "the quota of the account is used up. Free some space, then do it again." },
  EFBIG: { code: "too_large", sentence: "the file would be larger than the filesystem or a limit allows." },
  ENAMETOOLONG: { code: "invalid_argument", sentence: "the name is too long: 255 bytes for one component, 4,095 for a path. Shorten it." },
  EMFILE: { code: "busy", sentence: "too many files are open in this process. Do less at once, then do it again." },
  ENFILE: { code: "busy", sentence: "too many files are open on this machine. Do it again later." },
  EBUSY: { code: "busy", sentence: "something else is using it. Do it again later." },
  ETXTBSY: { code: "busy", sentence: "it is a program that is running. Stop it first." },
  ENXIO: { code: "not_regular", sentence: "it is a socket or a device, not a regular file." },
  ENODEV: { code: "not_regular", sentence: "it is a device that is not there, not a regular file." },
  ENOMEM: { code: "out_of_memory", sentence: "the kernel has no memory left for it." },
  EIO: { code: "unexpected", sentence: "the disk reported an input/output error. Check the disk before you go on." },
};

/** The error number's name (`ENOENT`) of something that was thrown, if it has one. */
export function errnoOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const { code } = thrown as NodeJS.ErrnoException;
  return typeof code === "string" ? code : undefined;
}

/** The only place that knows error numbers. `what` begins the sentence: `Reading "a.txt"`. A GloveboxError stays as it is. */
export function toGloveboxError(thrown: unknown, what: string, facts: ErrorFacts = {}): GloveboxError {
  if (thrown instanceof GloveboxError) return thrown.with(facts);
  const errno = errnoOf(thrown);
  const meaning = errno === undefined ? undefined : MEANINGS[errno];
  const said = thrown instanceof Error ? thrown.message : String(thrown);
  const { code, sentence } = meaning ?? { code: "unexpected" as const, sentence: said };
  const details = errno === undefined ? {} : { errno };
  return new GloveboxError(code, `${what} failed: ${sentence}`, { details, cause: thrown, ...facts });
}

/** A refusal that changed nothing. */
export function refusal(code: ErrorCode, message: string, facts: ErrorFacts = {}): GloveboxError {
  return new GloveboxError(code, message, { retrySafe: true, ...facts });
}
