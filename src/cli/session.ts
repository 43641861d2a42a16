import { openSync, writeSync } from "node:fs";
import { resolveTarget } from "../../adapters/index.js";
import { GloveboxError } from "../contract/errors.js";
import type { GloveboxEvent } from "../contract/events.js";
import type { Environment, Layer } from "../contract/target.js";
import { openEnvironment } from "../environment.js";
import { UsageError } from "./output.js";

export interface TargetOptions {
  readonly target?: string;
  readonly readOnly?: boolean;
  readonly audit?: string;
}

export interface Session {
  readonly environment: Environment;
  /** Fires on the first SIGINT, SIGTERM or SIGHUP; the second one ends the process at once. */
  readonly signal: AbortSignal;
}

/** Opens the target that the options name, runs `work` on it, and closes it whatever happens. */
export async function withSession<Result>(
  options: TargetOptions,
  work: (session: Session) => Promise<Result>,
  onEvent?: (event: GloveboxEvent) => void,
): Promise<Result> {
  const url = options.target ?? process.env.GLOVEBOX_TARGET;
  if (url === undefined || url === "") {
    throw new UsageError("no target: give --target URL (local:. for this directory) or set GLOVEBOX_TARGET");
  }
  const target = await resolveTarget(url);
  const layers = await layersOf(options);
  const interruption = listenForInterruption();
  try {
    await using environment = await openEnvironment(target, { layers, signal: interruption.signal, onEvent });
    return await work({ environment, signal: interruption.signal });
  } finally {
    interruption.stop();
  }
}

async function layersOf({ readOnly, audit }: TargetOptions): Promise<readonly Layer[]> {
  if (!readOnly && audit === undefined) return [];
  const layers = await import("../layers/index.js");
  const chosen: Layer[] = [];
  if (audit !== undefined) {
    const file = openSync(audit, "a", 0o600);
    chosen.push(layers.audit({ write: (line) => void writeSync(file, line) }));
  }
  if (readOnly) chosen.push(layers.readOnly());
  return chosen;
}

function listenForInterruption(): { readonly signal: AbortSignal; stop(): void } {
  const controller = new AbortController();
  const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const interrupt = (name: NodeJS.Signals): void => {
    if (controller.signal.aborted) process.exit(130);
    controller.abort(new GloveboxError("aborted", `The call was interrupted by ${name}.`));
  };
  for (const name of names) process.on(name, interrupt);
  return {
    signal: controller.signal,
    stop: () => {
      for (const name of names) process.off(name, interrupt);
    },
  };
}

/** All of standard input. */
export async function readStandardInput(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
