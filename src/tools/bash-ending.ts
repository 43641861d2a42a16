import type { ExecResult } from "../contract/operations.js";
import { formatCount, formatList } from "../text/format.js";

/** Linux's signals by number, those that end processes. */
const SIGNALS: Readonly<Record<number, string>> = {
  1: "SIGHUP",
  2: "SIGINT",
  3: "SIGQUIT",
  4: "SIGILL",
  5: "SIGTRAP",
  6: "SIGABRT",
  7: "SIGBUS",
  8: "SIGFPE",
  9: "SIGKILL",
  10: "SIGUSR1",
  11: "SIGSEGV",
  12: "SIGUSR2",
  13: "SIGPIPE",
  14: "SIGALRM",
  15: "SIGTERM",
  16: "SIGSTKFLT",
  24: "SIGXCPU",
  25: "SIGXFSZ",
  26: "SIGVTALRM",
  27: "SIGPROF",
  29: "SIGIO",
  30: "SIGPWR",
  31: "SIGSYS",
};

const ADVICE: Readonly<Record<string, string>> = {
  SIGKILL: "Something killed it outright, often for using too much memory: check what it needs, and try with less.",
  SIGSEGV: "It crashed on a bad memory access: look at its input, or run it under a debugger.",
  SIGABRT: "It gave up by itself: its output above should say why.",
  SIGPIPE: "It wrote to a pipe that nobody read any more: look at the command after the |.",
  SIGXCPU: "It used up the processor time it may use: make it do less, or raise ulimit -t.",
  SIGXFSZ: "It wrote a file larger than it may: write less, or raise ulimit -f.",
};

/** How a command ended, as facts. */
export interface Ending {
  readonly failed: boolean;
  /** The signal that ended it, by name, whether it was seen directly or told by the shell as 128 + n. */
  readonly signal?: string;
  /** For the model; "" for a plain success. */
  readonly text: string;
}

/** Says how a command ended and what to do about it. */
export function describeEnding(result: ExecResult): Ending {
  const { exitCode, outOfMemory = false, background = [] } = result;
  const signal = result.signal ?? (exitCode === undefined ? undefined : signalOf(exitCode));
  const still = backgroundText(background);
  const memory = outOfMemory
    ? "The target ran out of memory and killed it, or something it started: use less, or give the target more."
    : "";
  const lines = (ending: string): string => [ending, still].filter((line) => line !== "").join("\n");
  if (exitCode === 0) return { failed: false, text: lines(memory) };
  const cause = causeText(exitCode, result.signal, signal);
  return {
    failed: true,
    ...(signal === undefined ? {} : { signal }),
    text: lines(`${cause} ${memory === "" ? adviceFor(exitCode, signal) : memory}`),
  };
}

function causeText(exitCode: number | undefined, seen: string | undefined, signal: string | undefined): string {
  if (seen !== undefined) return `Killed by a signal: ${seen}.`;
  if (signal !== undefined) return `Exit code ${exitCode}: killed by a signal, ${signal} (128 + ${(exitCode ?? 128) - 128}).`;
  return exitCode === undefined ? "It ended without an exit code." : `Exit code ${exitCode}.`;
}

function adviceFor(exitCode: number | undefined, signal: string | undefined): string {
  if (signal !== undefined) return ADVICE[signal] ?? "Find out what sent that signal before you run it again.";
  if (exitCode === 126) return "The command was found but could not be run: check its permissions and its first line.";
  if (exitCode === 127) return "A command was not found on the target: check its name, or install it.";
  return "Look at the output for the reason before you run it again.";
}

function signalOf(exitCode: number): string | undefined {
  return exitCode > 128 ? SIGNALS[exitCode - 128] : undefined;
}

function backgroundText(pids: readonly number[]): string {
  if (pids.length === 0) return "";
  const shown = pids.slice(0, 20).map(String);
  const more = pids.length > shown.length ? " and more" : "";
  return `Still running in the background: ${formatCount(pids.length, "process", "processes")}, ${pids.length === 1 ? "pid" : "pids"} ${formatList(shown)}${more}. Stop with: kill ${shown.join(" ")}`;
}
