import type { Duplex } from "node:stream";

export interface Heartbeat {
  /** Bytes that arrived so far: any of them is a sign of life, not only the answer to a question. */
  readonly received: number;
  stop(): void;
}

/**
 * Calls `onSilence` once nothing has arrived on `stream` for `intervals` whole intervals. Counts looks at the clock, not
 * time, so that a process that was stopped does not take its own sleep for the other side's silence.
 */
export function watchForSilence(stream: Duplex, intervalMs: number, intervals: number, onSilence: () => void): Heartbeat {
  let received = 0;
  let seen = 0;
  let silent = 0;
  const count = (chunk: Buffer): void => {
    received += chunk.byteLength;
  };
  stream.on("data", count);
  const timer = setInterval(() => {
    silent = received === seen ? silent + 1 : 0;
    seen = received;
    if (silent < intervals) return;
    stop();
    onSilence();
  }, intervalMs);
  timer.unref();
  const stop = (): void => {
    clearInterval(timer);
    stream.off("data", count);
  };
  return {
    get received() {
      return received;
    },
    stop,
  };
}
