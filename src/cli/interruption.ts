import { GloveboxError } from "../contract/errors.js";
import { EXIT } from "./exit-codes.js";

export interface Interruption {
  /** Fires on the first SIGINT, SIGTERM or SIGHUP; the second one ends the process at once. */
  readonly signal: AbortSignal;
  /** Leaves signals to the process again. */
  stop(): void;
}

export function listenForInterruption(what: string): Interruption {
  const controller = new AbortController();
  const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const interrupt = (name: NodeJS.Signals): void => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted);
    controller.abort(new GloveboxError("aborted", `The ${what} was interrupted by ${name}.`));
  };
  for (const name of names) process.on(name, interrupt);
  return {
    signal: controller.signal,
    stop: () => {
      for (const name of names) process.off(name, interrupt);
    },
  };
}
