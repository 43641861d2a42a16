import { type ChildProcess, spawn } from "node:child_process";
import type { RunRecord } from "./run-record.js";

/*
 * Waits on a pipe that only we hold the other end of. A line is a farewell; the end of the pipe means that we died, by
 * SIGKILL perhaps, and that everything which bears our tag has to die too.
 */
const SCRIPT = `
read -r farewell && exit 0
tries=0
while [ "$tries" -lt 60 ]; do
  found=$(grep -ls -F -e "GLOVEBOX_RUN=$1" /proc/[0-9]*/environ)
  [ -n "$found" ] || break
  for file in $found; do pid=\${file#/proc/}; kill -9 "\${pid%/environ}"; done
  tries=$((tries + 1))
  sleep 0.05 || sleep 1
done
rm -rf -- "$2" "$3"
`;

export interface Watchdog {
  /** Starts it, or again when somebody killed it. */
  watch(): void;
  /** Lets it go without killing anything. */
  dismiss(): void;
}

/** One small shell per connection: it outlives us by as long as it takes to kill what our commands started. */
export function createWatchdog({ prefix, directory, spoolDirectory }: RunRecord): Watchdog {
  let child: ChildProcess | undefined;
  return {
    watch() {
      if (child !== undefined || process.platform !== "linux") return;
      const started = spawn("/bin/sh", ["-c", SCRIPT, "glovebox-watchdog", prefix, directory, spoolDirectory], {
        stdio: ["pipe", "ignore", "ignore"],
        env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
        cwd: "/",
        detached: true,
      });
      const gone = (): void => {
        if (child === started) child = undefined;
      };
      started.on("error", gone).on("exit", gone);
      started.stdin?.on("error", gone);
      started.unref();
      (started.stdin as { unref?(): void } | null)?.unref?.();
      child = started;
    },
    dismiss() {
      child?.stdin?.end("farewell\n");
      child = undefined;
    },
  };
}
