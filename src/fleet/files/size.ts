import { join } from "node:path/posix";
import { GloveboxError } from "../../contract/errors.js";
import type { Environment } from "../../contract/target.js";
import { attempt, type Ground } from "../ground.js";
import { eachOf } from "../reconcile.js";
import { type Sandbox, tell } from "../sandbox.js";
import { runInSandbox } from "./seed-command.js";

/** What sandboxes hold, and that it stays within the fleet's `maxWorkspaceBytes`. */
export interface Sizes {
  /** Of one that runs. */
  measure(sandbox: Sandbox, environment: Environment): Promise<number>;
  /** Measures the leased ones whose last time is too long ago. Never rejects. */
  tend(sandboxes: Iterable<Sandbox>): Promise<void>;
  /** Rejects `no_space` while it holds too much; it is measured again before that. */
  checkWrite(sandbox: Sandbox): Promise<void>;
}

const AT_ONCE = 2;
const DEADLINE_MS = 30_000;

export function createSizes(ground: Ground): Sizes {
  const { maxWorkspaceBytes, clocks } = ground.settings;
  const under = new WeakSet<Sandbox>();

  async function measure(sandbox: Sandbox, environment: Environment): Promise<number> {
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), DEADLINE_MS);
    const wasOver = isOver(sandbox);
    // Keeps it from being paused on the way.
    sandbox.inFlight += 1;
    try {
      sandbox.workspaceBytes = await workspaceBytes(environment, controller.signal);
    } finally {
      clearTimeout(timer);
      sandbox.inFlight -= 1;
      sandbox.measuredMs = ground.now();
    }
    if (isOver(sandbox) && !wasOver) {
      tell(
        ground,
        sandbox,
        "over_quota",
        undefined,
        `It holds ${sandbox.workspaceBytes} bytes, of ${maxWorkspaceBytes} (maxWorkspaceBytes).`,
      );
    }
    return sandbox.workspaceBytes;
  }

  function isOver({ workspaceBytes: bytes = 0 }: Sandbox): boolean {
    return bytes > maxWorkspaceBytes;
  }

  return {
    measure,
    async tend(sandboxes) {
      if (maxWorkspaceBytes === Number.POSITIVE_INFINITY) return;
      const due = [...sandboxes].filter(
        (sandbox) =>
          sandbox.claims > 0 && sandbox.state === "ready" && ground.now() - sandbox.measuredMs >= clocks.measureMs && !under.has(sandbox),
      );
      await eachOf(due, AT_ONCE, async (sandbox) => {
        const { environment } = sandbox;
        if (environment === undefined) return;
        under.add(sandbox);
        await attempt(measure(sandbox, environment));
        under.delete(sandbox);
      });
    },
    async checkWrite(sandbox) {
      if (!isOver(sandbox)) return;
      if (sandbox.environment !== undefined) await attempt(measure(sandbox, sandbox.environment));
      if (!isOver(sandbox)) return;
      const message = `The workspace holds ${sandbox.workspaceBytes} bytes, and ${maxWorkspaceBytes} are allowed. Delete files with a command (rm), then write again.`;
      throw new GloveboxError("no_space", message, {
        retrySafe: true,
        details: { bytes: sandbox.workspaceBytes, maxBytes: maxWorkspaceBytes },
      });
    },
  };
}

/** Bytes that the working directory takes on its disk: one `du` there, or, without commands, a look at each file. */
export async function workspaceBytes(environment: Environment, signal?: AbortSignal): Promise<number> {
  const { exec, processes } = environment.capabilities;
  if (!exec || !processes) return await sumOf(environment, environment.cwd, signal === undefined ? {} : { signal });
  // Directories that the sandbox's user closed to himself are passed over, and make du end with 1.
  const { stdout, stderr } = await runInSandbox(environment, "du -sk . 2>/dev/null", { env: {}, signal });
  const kib = /^\d+/.exec(stdout)?.[0];
  if (kib !== undefined) return Number(kib) * 1024;
  throw new GloveboxError("unsupported", `The sandbox could not measure its workspace: it needs du. ${stderr.trim()}`, { retrySafe: true });
}

async function sumOf(environment: Environment, directory: string, options: { readonly signal?: AbortSignal }): Promise<number> {
  let bytes = 0;
  for (const { name, kind } of await environment.readdir(directory, options)) {
    const path = join(directory, name);
    if (kind === "directory") bytes += await sumOf(environment, path, options);
    else if (kind === "file") bytes += (await environment.stat(path, options)).size;
  }
  return bytes;
}
