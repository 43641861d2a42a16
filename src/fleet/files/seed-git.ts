import { GloveboxError } from "../../contract/errors.js";
import type { Environment } from "../../contract/target.js";
import { type SeedLimits, tooLarge } from "./archive-members.js";
import { failed, runInSandbox, type SeedCommandEnd } from "./seed-command.js";
import { freshPlace } from "./seed-place.js";

export type GitProtocol = "https" | "ssh" | "http" | "git";

export interface GitSeed {
  /** `https://host/path` or `ssh://user@host/path`. */
  readonly git: string;
  /** A branch, a tag or a commit's 40 digits. Default: the repository's own branch. */
  readonly ref?: string;
  /** Commits of history. Default 1; `Infinity` for all. */
  readonly depth?: number;
  /** Which may be spoken; `http` and `git` are neither secret nor sure of the other end. Default https and ssh. */
  readonly protocols?: readonly GitProtocol[];
}

const NO_GIT = 90;

// No hooks, no submodules, no templates, no filters of somebody's configuration, no questions.
const CLONE = `command -v git >/dev/null || exit ${NO_GIT}
export GIT_TERMINAL_PROMPT=0 GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_LFS_SKIP_SMUDGE=1
export GIT_ALLOW_PROTOCOL="$PROTOCOLS" GIT_PROTOCOL_FROM_USER=0 GIT_SSH_COMMAND='ssh -oBatchMode=yes'
g() { git -c core.hooksPath=/dev/null -c submodule.recurse=false "$@"; }
set -- --no-recurse-submodules --template= --quiet
[ -z "$DEPTH" ] || set -- "$@" --depth "$DEPTH"
if [ -n "$COMMIT" ]; then
  g clone "$@" --no-checkout -- "$URL" "$FRESH/repository" && cd -P -- "$FRESH/repository" || exit
  g fetch --quiet \${DEPTH:+--depth "$DEPTH"} origin "$COMMIT" && g checkout --quiet --detach "$COMMIT" || exit
else
  [ -z "$REF" ] || set -- "$@" --branch "$REF"
  g clone "$@" -- "$URL" "$FRESH/repository" && cd -P -- "$FRESH/repository" || exit
fi
set -e
kib=$(du -sk . | cut -f1)
n=$(find . -print0 | tr -dc '\\0' | wc -c)
cd ..
for f in repository/* repository/.[!.]* repository/..?*; do
  [ -e "$f" ] || [ -L "$f" ] || continue
  mv -- "$f" .
done
rmdir repository
echo "$((kib)) $((n))"`;

/** Clones inside the sandbox, by its own git and network, and moves the result into place. */
export async function seedGit(
  environment: Environment,
  into: string,
  { git, ref = "", depth = 1, protocols = ["https", "ssh"] }: GitSeed,
  { limits, signal }: { readonly limits: Required<SeedLimits>; readonly signal?: AbortSignal | undefined },
): Promise<{ readonly files: number; readonly bytes: number }> {
  const url = checkUrl(git, protocols);
  checkRef(ref);
  if (depth !== Number.POSITIVE_INFINITY && !(Number.isSafeInteger(depth) && depth > 0))
    throw refuse("The depth must be a whole number of 1 or more, or Infinity");
  const { exec, processes } = environment.capabilities;
  if (!exec || !processes)
    throw new GloveboxError("unsupported", "This target runs no commands, so it cannot clone. Seed an archive or a directory.");
  const place = await freshPlace(environment, into, signal);
  try {
    const isCommit = /^[0-9a-f]{40}$/.test(ref);
    const env = {
      FRESH: place.directory,
      URL: url,
      REF: isCommit ? "" : ref,
      COMMIT: isCommit ? ref : "",
      DEPTH: depth === Number.POSITIVE_INFINITY ? "" : `${depth}`,
      PROTOCOLS: protocols.join(":"),
    };
    const end = await runInSandbox(environment, CLONE, { env, signal });
    if (end.exitCode !== 0) throw cloneFailed(url, end);
    const [kib = 0, files = 0] = end.stdout.trim().split(" ").map(Number);
    if (kib * 1024 > limits.maxBytes) throw tooLarge(`takes ${kib} KiB, of ${limits.maxBytes} bytes`, "maxBytes", limits.maxBytes);
    if (files > limits.maxFiles) throw tooLarge(`has ${files} files and directories`, "maxFiles", limits.maxFiles);
    await place.settle(undefined);
    return { files, bytes: kib * 1024 };
  } catch (error) {
    await place.remove();
    throw error;
  }
}

function checkUrl(text: string, protocols: readonly GitProtocol[]): string {
  const allowed = protocols.map((protocol) => `${protocol}://`).join(", ");
  const url = URL.canParse(text) && !/[\s\p{Cc}]/u.test(text) ? new URL(text) : undefined;
  const protocol = url?.protocol.slice(0, -1);
  if (url === undefined || !text.includes("://") || text.includes("::") || !protocols.some((each) => each === protocol)) {
    throw refuse(`A repository's address must begin with one of ${allowed}, not ${JSON.stringify(text.slice(0, 80))}`);
  }
  if (!["https", "ssh", "http", "git"].includes(protocol ?? "")) throw refuse(`The protocol ${protocol} is never spoken`);
  if (url.password !== "") {
    throw refuse(
      "A password in a repository's address would stay in the sandbox, for its user to read. Clone it where the password is, and seed the directory or an archive",
    );
  }
  if (url.hostname === "" || url.hostname.startsWith("-") || url.username.startsWith("-"))
    throw refuse("A repository's address needs a host");
  return text;
}

function checkRef(ref: string): void {
  if (ref === "" || (/^[A-Za-z0-9_][\w./+@-]{0,254}$/.test(ref) && !ref.includes(".."))) return;
  throw refuse(`${JSON.stringify(ref.slice(0, 80))} is not the name of a branch or tag, nor a commit's 40 digits`);
}

function cloneFailed(url: string, end: SeedCommandEnd): GloveboxError {
  const said = end.stderr.trim().slice(0, 1_000);
  const fail = (code: "unsupported" | "disconnected" | "auth_failed" | "not_found", message: string): GloveboxError =>
    new GloveboxError(code, message, { retrySafe: true, details: { stderr: said } });
  if (end.exitCode === NO_GIT)
    return fail("unsupported", "There is no git in this sandbox. Choose an image that has it, or seed an archive or a directory.");
  if (/cannot run ssh|ssh: not found|ssh: No such file/.test(end.stderr)) {
    return fail("unsupported", "There is no ssh in this sandbox. Choose an image that has it, or use https.");
  }
  if (
    /could not resolve|couldn't connect|failed to connect|unable to connect|unreachable|connection refused|timed out|temporary failure/i.test(
      end.stderr,
    )
  ) {
    const advice =
      'A sandbox has no network unless it is made with one (network: "isolated"). Give it one, or seed an archive or a directory.';
    return fail("disconnected", `The sandbox did not reach ${url}: ${said}. ${advice}`);
  }
  if (/authentication failed|could not read (?:username|password)|permission denied \(|host key verification/i.test(end.stderr)) {
    return fail(
      "auth_failed",
      `${url} wants credentials, and none are kept in a sandbox: ${said}. Clone it elsewhere, and seed the directory.`,
    );
  }
  if (/not found|does not exist|not our ref|couldn't find remote ref|not exported|does not appear to be/i.test(end.stderr)) {
    return fail("not_found", `There is no such repository or ref: ${said}. Check ${url} and the ref.`);
  }
  return failed(`The clone of ${url}`, end);
}

function refuse(sentence: string): GloveboxError {
  return new GloveboxError("invalid_argument", `${sentence}.`, { retrySafe: true });
}
