import { GloveboxError } from "../../contract/errors.js";
import type { EngineProvisioner } from "../../contract/target.js";
import { messageOf } from "../ground.js";

export interface MemberOptions {
  readonly name: string;
  readonly provisioner: EngineProvisioner;
  /** A question that is not answered by then marks the engine dead. */
  readonly deadlineMs: number;
  now(): number;
  onChange(member: Member): void;
}

/** One engine of several, and whether it answers. */
export interface Member {
  readonly name: string;
  readonly provisioner: EngineProvisioner;
  /** Why it counts as dead; undefined while it lives. */
  readonly death: string | undefined;
  /** Also has a dead one asked again, in the background, when it is time for that. */
  isAlive(): boolean;
  /** A question to the engine, answered within the deadline. Rejects `disconnected` at once while it is dead. */
  read<Result>(question: (provisioner: EngineProvisioner) => Promise<Result>): Promise<Result>;
  /** The same for an act, which the adapter's own deadlines bound. */
  change<Result>(act: (provisioner: EngineProvisioner) => Promise<Result>): Promise<Result>;
  /** Asks it now. Resolves to whether it lives. */
  probe(): Promise<boolean>;
}

const FIRST_PROBE_MS = 500;
const MAX_PROBE_MS = 30_000;
/** Nothing bears it; looking it up is the cheapest question. */
const NOBODY = "gbf-probe";

/** Ways in which an engine fails, as against what it refuses. */
const FAILURES: ReadonlySet<string> = new Set(["disconnected", "timeout", "auth_failed", "host_key", "unexpected"]);

export function createMember({ name, provisioner, deadlineMs, now, onChange }: MemberOptions): Member {
  let death: string | undefined;
  let waitMs = FIRST_PROBE_MS;
  let probeAtMs = 0;
  let probing: Promise<boolean> | undefined;

  function die(error: unknown): void {
    probeAtMs = now() + waitMs;
    if (death !== undefined) return;
    death = messageOf(error);
    onChange(member);
  }

  function checkAlive(): void {
    if (isAlive()) return;
    throw new GloveboxError("disconnected", `The engine ${name} does not answer (${death}). It is asked again by itself.`, {
      retrySafe: true,
      details: { engine: name },
    });
  }

  function isAlive(): boolean {
    if (death !== undefined && now() >= probeAtMs) void probe();
    return death === undefined;
  }

  function probe(): Promise<boolean> {
    probing ??= probeNow().finally(() => {
      probing = undefined;
    });
    return probing;
  }

  async function probeNow(): Promise<boolean> {
    try {
      await inTime(provisioner.find(NOBODY), name, deadlineMs);
    } catch (error) {
      if (death !== undefined) waitMs = Math.min(waitMs * 2, MAX_PROBE_MS);
      die(error);
      return false;
    }
    waitMs = FIRST_PROBE_MS;
    if (death !== undefined) {
      death = undefined;
      onChange(member);
    }
    return true;
  }

  const member: Member = {
    name,
    provisioner,
    get death() {
      return death;
    },
    isAlive,
    probe,
    async read(question) {
      checkAlive();
      try {
        return await inTime(question(provisioner), name, deadlineMs);
      } catch (error) {
        if (isFailure(error)) die(error);
        // Of one thing, or of the engine altogether.
        else if (isDenied(error)) await probe();
        throw error;
      }
    },
    async change(act) {
      checkAlive();
      try {
        return await act(provisioner);
      } catch (error) {
        // An engine that is slow with one thing may be fine with all others.
        if (isFailure(error) || isDenied(error)) await probe();
        throw error;
      }
    },
  };
  return member;
}

function isFailure(error: unknown): boolean {
  return !(error instanceof GloveboxError) || FAILURES.has(error.code);
}

function isDenied(error: unknown): boolean {
  return error instanceof GloveboxError && error.code === "permission_denied";
}

async function inTime<Result>(work: Promise<Result>, engine: string, deadlineMs: number): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const message = `The engine ${engine} did not answer within ${deadlineMs} ms. Check it, or allow more time (deadlineMs).`;
      reject(new GloveboxError("timeout", message, { retrySafe: true, details: { engine, deadlineMs } }));
    }, deadlineMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
