/** How long verbs that never wait may keep the event loop to themselves. */
const TURN_MS = 5;

let turnEndsAt = 0;

/**
 * Lets everything else of this process have its turn when it is due. Small reads are done on the spot, so a caller that
 * does one after the other would never give timers, sockets and the thread pool a chance.
 */
export async function takeTurns(): Promise<void> {
  if (performance.now() < turnEndsAt) return;
  await new Promise((resolve) => setImmediate(resolve));
  turnEndsAt = performance.now() + TURN_MS;
}
