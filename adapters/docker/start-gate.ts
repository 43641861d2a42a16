import { GloveboxError } from "../../src/contract/errors.js";

/*
 * An engine that pauses a container while an exec starts in it freezes its own helper half way, and then can neither resume,
 * nor remove, nor even inspect that container (Docker 20.10 on cgroup v1: every time). So within this process a pause waits
 * for the starts under way, and starts wait for the pause. What others pause cannot be kept from it.
 */

export interface Started {
  /** Resolves to true once the engine has the process running, or has given up on it; to false when that takes too long. */
  isDecided(): Promise<boolean>;
  /** The same without asking anybody: resolves when it becomes known by itself. */
  readonly decided: Promise<void>;
}

interface Gate {
  readonly pending: Set<() => Promise<boolean>>;
  pausing: Promise<unknown> | undefined;
}

const gates = new Map<string, Gate>();

/** Begins a start, after a pause that is under way. */
export async function startThroughGate<Process extends Started>(containerId: string, begin: () => Promise<Process>): Promise<Process> {
  for (let pausing = gates.get(containerId)?.pausing; pausing !== undefined; pausing = gates.get(containerId)?.pausing) await pausing;
  const gate = gateOf(containerId);
  const begun = begin();
  const isDecided = (): Promise<boolean> =>
    begun.then(
      (process) => process.isDecided(),
      () => true,
    );
  gate.pending.add(isDecided);
  const leave = (): void => {
    gate.pending.delete(isDecided);
    forget(containerId, gate);
  };
  void begun.then((process) => process.decided.then(leave), leave);
  return await begun;
}

/** Pauses once no start is under way. Rejects as `pause` does, or `busy` when a start is not decided. */
export async function pauseBetweenStarts(containerId: string, pause: () => Promise<void>): Promise<void> {
  const gate = gateOf(containerId);
  const before = gate.pausing;
  const work = (async () => {
    await before;
    const decided = await Promise.all([...gate.pending].map((isDecided) => isDecided()));
    if (decided.includes(false)) {
      const message =
        "The container is not paused: a process has been starting in it for long, and pausing now could freeze it for good. Try again.";
      throw new GloveboxError("busy", message, { retrySafe: true });
    }
    await pause();
  })();
  const settled = work.catch(() => undefined);
  gate.pausing = settled;
  try {
    await work;
  } finally {
    if (gate.pausing === settled) gate.pausing = undefined;
    forget(containerId, gate);
  }
}

function gateOf(containerId: string): Gate {
  let gate = gates.get(containerId);
  if (gate === undefined) {
    gate = { pending: new Set(), pausing: undefined };
    gates.set(containerId, gate);
  }
  return gate;
}

function forget(containerId: string, gate: Gate): void {
  if (gate.pending.size === 0 && gate.pausing === undefined && gates.get(containerId) === gate) gates.delete(containerId);
}
