import { type ErrorCode, GloveboxError } from "../../src/contract/errors.js";
import type { Words } from "./reply.js";

/** What the C library's sentence for an error number means here: glibc's, musl's and the shells' own wording. */
const SENTENCES: readonly (readonly [RegExp, ErrorCode])[] = [
  [/no such file|nonexistent|cannot open .*: no such/i, "not_found"],
  [/not a directory/i, "not_directory"],
  [/permission denied|operation not permitted|read-only file ?system/i, "permission_denied"],
  [/too many levels of symbolic|symbolic link loop/i, "loop"],
  [/file ?name too long|name too long/i, "invalid_argument"],
  [/no space left|quota exceeded/i, "no_space"],
  [/file too large/i, "too_large"],
  [/is a directory/i, "is_directory"],
  [/file exists/i, "exists"],
  [/cannot allocate memory|out of memory/i, "out_of_memory"],
  [/busy/i, "busy"],
  [/no such device/i, "not_regular"],
];

export function codeOfSentence(sentence: string): ErrorCode {
  return SENTENCES.find(([pattern]) => pattern.test(sentence))?.[1] ?? "unexpected";
}

const ADVICE: Partial<Record<ErrorCode, string>> = {
  not_found: "does not exist. List its directory to see what is there.",
  not_directory:
    "leads through a file as if it were a directory, or names one with a slash behind it. List its parent to see what is there.",
  is_directory: "is a directory. List it, or name a file in it.",
  not_regular:
    "is no regular file (a FIFO, a device, a socket, or made up by the kernel), and only regular files are read or written. Use a command for it.",
  permission_denied: "may not be used so by this account. Check owner and mode.",
  outside_root: "leads outside the root, and only what is in there can be used. Name a path inside it.",
  loop: "leads through a circle of symlinks, or through more than 40 of them. Name the real file.",
  invalid_argument: "is too long: 255 bytes for one component, 4,095 for a path. Shorten it.",
  no_space: "could not be written: the disk is full, or out of inodes or quota. Nothing changed. Free some space, then try again.",
  too_large: "is larger than can be read at once. Ask for a slice of it, by bytes or by lines.",
  exists: "is there already. Choose another name.",
  busy: "is in use by somebody else. Wait until they are done, then try again.",
  out_of_memory: "could not be handled: the target has no memory left. Do less at once.",
  hard_link:
    'has other names (hard links), which an atomic write would cut loose. Connect with hardLinks: "break" for that, or write it with a command.',
};

/** A refusal that changed nothing. */
export function refusal(code: ErrorCode, path: string, details: Readonly<Record<string, unknown>> = {}): GloveboxError {
  return new GloveboxError(code, `${JSON.stringify(path)} ${ADVICE[code] ?? "could not be used."}`, { retrySafe: true, path, details });
}

/** What the words after `no` say about `path`. */
export function errorOf(words: Words, path: string, expected?: string | null): GloveboxError {
  const what = words.take();
  switch (what) {
    case "errno": {
      const sentence = words.rest().trim();
      const code = codeOfSentence(sentence);
      if (code !== "unexpected") return refusal(code, path, { said: sentence.slice(0, 300) });
      return unexpected(path, sentence);
    }
    case "conflict": {
      const actual = words.take();
      return conflict(path, expected ?? null, actual === "-" ? null : actual);
    }
    case "hard_link":
      return refusal("hard_link", path, { option: "hardLinks", links: words.number() });
    case "not_found":
      if (words.take() !== "dangling") return refusal("not_found", path);
      return new GloveboxError(
        "not_found",
        `${JSON.stringify(path)} is a symlink to something that does not exist. Write to that path itself, or remove the link.`,
        {
          retrySafe: true,
          path,
        },
      );
    case "foreign":
      return new GloveboxError(
        "permission_denied",
        `${JSON.stringify(path)} belongs to ${words.take()} (user:group), and this account cannot write a file that stays theirs. Use a command that writes in place, or change its owner.`,
        { retrySafe: true, path },
      );
    case "unsynced":
      return new GloveboxError(
        "unknown_outcome",
        `${JSON.stringify(path)} has its new content, but the disk did not confirm that it would outlive a power cut. Check the disk, then read the file before you write it again.`,
        { path, details: { said: words.rest().slice(0, 300) } },
      );
    case "busy":
      return new GloveboxError(
        "busy",
        `${JSON.stringify(path)} keeps changing while it is read. Wait until its writer is done, then read it again.`,
        {
          retrySafe: true,
          path,
        },
      );
    case "outside_root":
    case "loop":
    case "is_directory":
    case "not_regular":
    case "permission_denied":
      return refusal(what, path);
    default:
      return unexpected(path, `${what} ${words.rest()}`);
  }
}

export function conflict(path: string, expectedSha256: string | null, actualSha256: string | null): GloveboxError {
  const what =
    expectedSha256 === null
      ? "is there already, and it was to be made new"
      : actualSha256 === null
        ? "is not there any more"
        : "is not what it was when it was read: somebody else wrote it";
  return new GloveboxError(
    "conflict",
    `${JSON.stringify(path)} ${what}. Nothing was written. Read it again, and write on top of what is there now.`,
    {
      retrySafe: true,
      path,
      details: { expectedSha256, actualSha256 },
    },
  );
}

function unexpected(path: string, said: string): GloveboxError {
  return new GloveboxError(
    "unexpected",
    `Using ${JSON.stringify(path)} failed on the target: ${said.slice(0, 500)}. Look at it with a command.`,
    { path },
  );
}
