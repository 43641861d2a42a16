import { abortError, GloveboxError } from "../../src/contract/errors.js";
import type { ExecOptions, ExecResult } from "../../src/contract/operations.js";
import { atMost } from "./at-most.js";
import { composeRequest, type RequestContext } from "./exec-request.js";
import type { Run } from "./kill.js";
import { signalName } from "./signals.js";
import type { CommandEnd, Report } from "./spare.js";
import type { Spares } from "./spares.js";

/** From the death of everything that ran to the last word about it. */
const LAST_WORDS_MS = 5_000;

export interface ExecContext extends RequestContext {
  readonly spares: Spares;
  /** Commands have a session of their own. */
  readonly sessions: boolean;
  /** Kills a run. False when something of it may still be there. */
  kill(run: Run): Promise<boolean>;
  /** Why nothing can be run on this target, when that is so. */
  readonly refused?: GloveboxError;
  /** Fires when the connection closes. Whoever fires it kills what runs. */
  readonly closing: AbortSignal;
}

/** A command on a spare shell. Keeps every promise of `ShellVerbs.exec`. */
export async function exec(context: ExecContext, command: string, options: ExecOptions = {}): Promise<ExecResult> {
  const { signal } = options;
  const { closing } = context;
  if (context.refused !== undefined) throw context.refused;
  const { line, payload } = composeRequest(context, command, options);
  const spare = await context.spares.claim(signal);
  const run: Run = { group: context.sessions ? spare.pid : 0, tag: spare.tag };
  let stop = (_error: GloveboxError): void => {};
  const stopped = new Promise<never>((_resolve, reject) => {
    stop = reject;
  });
  const abort = (): void => stop(abortError(signal as AbortSignal));
  const close = (): void => stop(connectionClosed());
  signal?.addEventListener("abort", abort, { once: true });
  closing.addEventListener("abort", close, { once: true });
  if (signal?.aborted) abort();
  if (closing.aborted) close();
  const running = spare.run(line, payload, (chunk, stream) => options.onOutput?.(chunk, stream));
  running.catch(() => undefined);
  try {
    let end: CommandEnd;
    try {
      end = await Promise.race([running, stopped]);
    } catch (error) {
      const gone = await (closing.aborted ? true : context.kill(run));
      // What it said before it died is delivered, too.
      await atMost(LAST_WORDS_MS, running);
      throw gone ? asError(error) : mayStillRun(error);
    }
    if (end.outcome.kind === "lost") context.spares.renew();
    return await resultOf(end, () => context.kill(run));
  } finally {
    signal?.removeEventListener("abort", abort);
    closing.removeEventListener("abort", close);
    spare.destroy();
  }
}

async function resultOf({ outcome, report }: CommandEnd, kill: () => Promise<boolean>): Promise<ExecResult> {
  if (outcome.kind === "lost") throw unknownOutcome(outcome.error, report);
  if (report?.kind === "not_started") throw notStarted(report.why);
  const signalled = outcome.kind === "signalled" ? outcome.signal : outcome.exitCode > 128 ? signalName(outcome.exitCode - 128) : undefined;
  if (report === undefined) {
    // The shell that watched the command was killed: what it watched may still be there. Any other end of it says nothing.
    if (!(await kill())) throw mayStillRun(outcome);
    if (signalled === undefined) throw unknownOutcome(neverTold());
  }
  const outOfMemory = outcome.outOfMemory || report?.outOfMemory;
  const rest: ExecResult = {
    ...(outOfMemory ? { outOfMemory } : {}),
    ...(report !== undefined && report.background.length > 0 ? { background: report.background } : {}),
  };
  if (outcome.kind === "exited" && report?.signalled === false) return { exitCode: outcome.exitCode, ...rest };
  if (signalled !== undefined) return { signal: signalled.startsWith("SIG") ? signalled : `SIG${signalled}`, ...rest };
  return { ...(outcome.kind === "exited" ? { exitCode: outcome.exitCode } : {}), ...rest };
}

function asError(error: unknown): GloveboxError {
  if (error instanceof GloveboxError) return error;
  const message = "Whoever took the command's output failed, so the command was killed. Correct that, then run the command again.";
  return new GloveboxError("unexpected", message, { cause: error });
}

function notStarted(why: string): GloveboxError {
  const message =
    why === "cwd"
      ? "The command did not run: its working directory does not exist on the target, is no directory, or may not be entered. Make it, or choose another one."
      : why === "input"
        ? "The command did not run: its standard input, or its text, found no room in the target's temporary directory. Free some space there, or pass less."
        : "The command did not run: its shell was killed before it began. Run it again.";
  return new GloveboxError("not_started", message, { retrySafe: true, details: { why } });
}

function neverTold(): GloveboxError {
  return new GloveboxError(
    "unknown_outcome",
    "The shell that watched the command ended without a word about it. Check what the command did before running it again.",
  );
}

function unknownOutcome(error: GloveboxError, report?: Report): GloveboxError {
  const told = report?.kind === "exit" ? { details: { toldExitCode: report.status } } : {};
  if (["unknown_outcome", "gone", "out_of_memory", "not_started"].includes(error.code)) return error.with(told);
  const message = `The connection was lost while the command ran, and how it ended is not known. It is killed on the target, but may have run in part or as a whole. Check what it did before running it again. (${error.message})`;
  return new GloveboxError("unknown_outcome", message, { ...told, cause: error });
}

function mayStillRun(cause: unknown): GloveboxError {
  const message =
    "The command was to be killed, but whether all that it started is gone could not be made sure. Look for its processes before going on.";
  return new GloveboxError("unknown_outcome", message, { cause });
}

function connectionClosed(): GloveboxError {
  return new GloveboxError(
    "gone",
    "The connection was closed while the command ran, which ended it. Open a new one, and check what was done so far.",
  );
}
