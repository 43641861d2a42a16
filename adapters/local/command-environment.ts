import { homedir } from "node:os";

/** What a command sees of the variables of our own process; LC_* besides. */
const ALLOWED = ["PATH", "HOME", "LANG", "TERM", "TZ", "TMPDIR", "USER", "LOGNAME", "SHELL"];

const USUAL_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** The variables of a command: the allow-listed ones of this machine's account, those `added`, those of the call. */
export function commandEnvironment(...added: readonly Readonly<Record<string, string>>[]): Record<string, string> {
  const own: Record<string, string> = { PATH: USUAL_PATH, HOME: homedir() };
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && (ALLOWED.includes(name) || name.startsWith("LC_"))) own[name] = value;
  }
  return Object.assign(own, ...added);
}
