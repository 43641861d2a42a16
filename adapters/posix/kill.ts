import type { LanePool } from "./lane-pool.js";
import { lastOf, wordsOf } from "./reply.js";

/** Between TERM and KILL; over at once when everything is gone. */
const GRACE_MS = 2_000;
/** How long what has been sent KILL may take to die. */
const PATIENCE_MS = 10_000;
const LONGEST_PAUSE_MS = 100;

export interface Run {
  /** Group and session of the command; 0 when it has none of its own. */
  readonly group: number;
  readonly tag: string;
}

/** TERM, a grace, KILL, until nothing bears the run's tag any more. False when that cannot be brought about or known. */
export async function killRun(
  lanes: LanePool,
  { group, tag }: Run,
  { graceMs = GRACE_MS, patienceMs = PATIENCE_MS } = {},
): Promise<boolean> {
  const begun = performance.now();
  let pauseMs = 10;
  for (let signal = "TERM"; performance.now() - begun < graceMs + patienceMs; ) {
    const left = await send(lanes, signal, group, tag);
    if (left === undefined) return false;
    if (left === 0) return true;
    await new Promise((resolve) => {
      setTimeout(resolve, pauseMs);
    });
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    signal = performance.now() - begun < graceMs ? "0" : "KILL";
  }
  return false;
}

async function send(lanes: LanePool, signal: string, group: number, tag: string): Promise<number | undefined> {
  try {
    const frames = await lanes.call({ verb: "ks", arguments: [signal, group, tag], maxReplyBytes: 1024, idleMs: 20_000 }, { repeat: true });
    const words = wordsOf(lastOf(frames));
    if (words.first !== "ok") return undefined;
    return words.rest().trim() === "" ? 0 : words.rest().trim().split(" ").length;
  } catch {
    return undefined;
  }
}
