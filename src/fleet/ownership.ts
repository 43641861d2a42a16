import { abortError } from "../contract/errors.js";
import { attempt, type Ground } from "./ground.js";
import { sleep } from "./patience.js";
import type { Sandbox } from "./sandbox.js";

/** A sandbox's lock at the engine: who has it is the only one to act on the sandbox. */
export interface Ownership {
  /** `near`: the sandbox that is meant for the name, by its id, or a volume for one. */
  lock(name: string, near?: string): Promise<boolean>;
  /** Notes that its lock is held. */
  taken(sandbox: Sandbox): void;
  /** Waits for the lock, asking whoever holds it to let go. Rejects what the signal says. */
  own(sandbox: Sandbox, signal: AbortSignal, near?: string): Promise<void>;
  /** Never rejects. */
  release(sandbox: Sandbox): Promise<void>;
}

const MAX_POLL_MS = 200;

export function createOwnership({ provisioner, names, now }: Ground): Ownership {
  function lock(name: string, near?: string): Promise<boolean> {
    return provisioner.lock(name, names.search, near);
  }

  async function own(sandbox: Sandbox, signal: AbortSignal, near?: string): Promise<void> {
    if (sandbox.owned) return;
    const wish = `${sandbox.name}.want`;
    let wished = false;
    try {
      for (let pollMs = 10; !(await lock(sandbox.name, near)); pollMs = Math.min(pollMs * 1.5, MAX_POLL_MS)) {
        if (signal.aborted) throw abortError(signal, { retrySafe: true });
        wished ||= await lock(wish);
        await sleep(pollMs, signal);
      }
    } finally {
      if (wished) await attempt(provisioner.unlock(wish));
    }
    taken(sandbox);
  }

  function taken(sandbox: Sandbox): void {
    sandbox.owned = true;
    sandbox.ownedSinceMs = now();
    sandbox.idleSinceMs = now();
  }

  async function release(sandbox: Sandbox): Promise<void> {
    sandbox.owned = false;
    // One that the engine keeps all the same is taken back, and given back, at the next look.
    await attempt(provisioner.unlock(sandbox.name));
  }

  return { lock, taken, own, release };
}
