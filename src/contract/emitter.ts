import type { GloveboxEvent } from "./events.js";

type Listener = (event: GloveboxEvent) => unknown;

export interface Emitter {
  emit(event: GloveboxEvent): void;
  /** Returns the function that unsubscribes. Events emitted before are not told; those still waiting are dropped with it. */
  onEvent(listener: Listener): () => void;
}

/** Events that may wait for one listener whose promise has not settled; beyond it the oldest are dropped. */
const MAX_WAITING = 10_000;

/**
 * Delivers events to each listener in order, one at a time: at once while the listener is idle, else when the promise it
 * returned settles. `emit` never throws and never waits; what a listener throws or rejects with is discarded, and a slow
 * one holds back only itself, at most `MAX_WAITING` events.
 */
export function createEmitter(): Emitter {
  const lines = new Set<Line>();
  return {
    emit(event) {
      // All are handed it before anyone is told, so that a listener which emits puts nobody's events out of order.
      for (const line of lines) line.add(event);
      for (const line of [...lines]) line.drain();
    },
    onEvent(listener) {
      const line = createLine(listener);
      lines.add(line);
      return () => {
        lines.delete(line);
        line.close();
      };
    },
  };
}

/** The events that wait for one listener. */
interface Line {
  add(event: GloveboxEvent): void;
  drain(): void;
  close(): void;
}

function createLine(listener: Listener): Line {
  const waiting: GloveboxEvent[] = [];
  let busy = false;
  const done = (): void => {
    busy = false;
    drain();
  };
  const drain = (): void => {
    while (!busy) {
      const event = waiting.shift();
      if (event === undefined) return;
      busy = true;
      try {
        const answer = listener(event);
        if (answer instanceof Promise) answer.then(done, done);
        else busy = false;
      } catch {
        busy = false;
      }
    }
  };
  return {
    add(event) {
      waiting.push(event);
      if (waiting.length > MAX_WAITING) waiting.shift();
    },
    drain,
    close() {
      waiting.length = 0;
    },
  };
}
