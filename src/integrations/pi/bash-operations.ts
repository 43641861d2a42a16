import { constants } from "node:os";
import { type Environment, GloveboxError } from "../../index.js";

export interface PiBashOperations {
  exec(
    command: string,
    cwd: string,
    options: {
      readonly onData: (data: Buffer) => void;
      readonly signal?: AbortSignal;
      /** Seconds. */
      readonly timeout?: number;
      readonly env?: Readonly<Record<string, string | undefined>>;
    },
  ): Promise<{ exitCode: number | null }>;
}

/** Of the environment that Pi hands over, which is the host's, only what Pi says about the session travels. */
const SESSION_VARIABLES: readonly string[] = ["PI_SESSION_ID", "PI_PROVIDER", "PI_MODEL", "PI_REASONING_LEVEL"];
/** What a timer can hold. */
const MAX_TIMEOUT_SECONDS = 2_147_483;

/** Pi's words for how a command was ended; it compares and parses them. */
const ABORTED = "aborted";
const timedOut = (seconds: number): string => `timeout:${seconds}`;

export function piBash(environment: Environment): PiBashOperations {
  return {
    async exec(command, cwd, { onData, signal, timeout, env = {} }) {
      if (timeout !== undefined && !(timeout > 0 && timeout <= MAX_TIMEOUT_SECONDS)) {
        const message = `The timeout must be a number of seconds above 0, ${MAX_TIMEOUT_SECONDS} at most, not ${timeout}. Leave it out for none.`;
        throw new GloveboxError("invalid_argument", message, { retrySafe: true });
      }
      if (signal?.aborted) throw new Error(ABORTED);
      const ending = new AbortController();
      const abort = (): void => ending.abort(new Error(ABORTED));
      signal?.addEventListener("abort", abort, { once: true });
      const timer =
        timeout === undefined ? undefined : setTimeout(() => ending.abort(new Error(timedOut(timeout))), Math.ceil(timeout * 1000));
      try {
        const { exitCode, signal: killedBy } = await environment.exec(command, {
          cwd,
          env: sessionVariables(env),
          signal: ending.signal,
          onOutput: (chunk) => onData(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)),
        });
        return { exitCode: exitCode ?? numberOf(killedBy) };
      } catch (error) {
        // What is known to be dead and gone gets Pi's word; an unknown fate keeps its own.
        const ended = error instanceof GloveboxError && (error.code === "aborted" || error.code === "timeout");
        throw ending.signal.aborted && ended ? ending.signal.reason : error;
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
      }
    },
  };
}

function sessionVariables(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(SESSION_VARIABLES.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}

/** As shells count: 128 and the signal's number. */
function numberOf(signal: string | undefined): number | null {
  const number = signal === undefined ? undefined : (constants.signals as Readonly<Record<string, number | undefined>>)[signal];
  return number === undefined ? null : 128 + number;
}
