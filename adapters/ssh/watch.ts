import type { ClientChannel } from "ssh2";
import { BOOTSTRAP, scriptLine } from "./bootstrap.js";
import type { OnLink } from "./member.js";

const VANISHED_AFTER_SECONDS = 45;
/** What is left of a connection that went without a word ends after this time without a beat. */
export const VANISHED_AFTER_MS = VANISHED_AFTER_SECONDS * 1000;
const BEAT_MS = 15_000;

/**
 * Runs on the target, one for each connection. A server that hears nothing of us believes in the connection for hours, and
 * so does all that we started through it. This ends the server's process for the connection, which is its own parent, when
 * no beat has come for a while: then everything that reads from the connection sees its end, as if we had hung up.
 * Nothing but an SSH server's process is ever ended; exit code 3 says that the parent is none.
 */
const SCRIPT = `
  p=$PPID
  read -r c </proc/$p/comm || exit 3
  case $c in sshd | sshd-session | dropbear) ;; *) exit 3 ;; esac
  kill -0 "$p" || exit 3
  trap '' HUP PIPE
  count() {
    (
      trap 'kill "$s"; exit' TERM
      sleep ${VANISHED_AFTER_SECONDS} &
      s=$!
      wait "$s" && kill "$p"
    ) &
    k=$!
  }
  count
  echo watching
  while read -r l; do kill "$k"; count; done
  kill "$k"
`;

/** Whether the connections of a link are watched over there; undefined before that is known. */
export interface Watch {
  readonly watching: boolean | undefined;
  start(exec: (command: string) => Promise<OnLink<ClientChannel>>): void;
}

/** Where no watch can be had (no room for its channel, a server that is not ours to end), the connection does without. */
export function createWatch(): Watch {
  let watching: boolean | undefined;
  const start = async (exec: (command: string) => Promise<OnLink<ClientChannel>>): Promise<void> => {
    const { channel } = await exec(BOOTSTRAP);
    for (const stream of [channel, channel.stderr]) stream.on("error", () => undefined).resume();
    channel.on("data", (chunk: Buffer) => {
      if (chunk.includes("watching")) watching = true;
    });
    channel.write(`${scriptLine(SCRIPT)}\n`);
    const timer = setInterval(() => channel.write("\n"), BEAT_MS);
    timer.unref();
    channel.once("close", () => {
      clearInterval(timer);
      watching ??= false;
    });
  };
  return {
    get watching() {
      return watching;
    },
    start: (exec) =>
      void start(exec).catch(() => {
        watching ??= false;
      }),
  };
}
