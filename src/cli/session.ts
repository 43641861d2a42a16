import { resolveTarget } from "../../adapters/index.js";
import type { GloveboxEvent } from "../contract/events.js";
import type { Environment, Layer } from "../contract/target.js";
import { openEnvironment } from "../environment.js";
import { openAuditFile } from "./audit-file.js";
import { listenForInterruption } from "./interruption.js";
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
  const interruption = listenForInterruption("call");
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
  if (audit !== undefined) chosen.push(layers.audit({ write: openAuditFile(audit) }));
  if (readOnly) chosen.push(layers.readOnly());
  return chosen;
}

/** All of standard input. */
export async function readStandardInput(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
