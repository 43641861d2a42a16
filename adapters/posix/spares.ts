import { abortError, GloveboxError } from "../../src/contract/errors.js";
import type { Spare } from "./spare.js";

export interface Spares {
  /** A shell that waits for a command, taken for good; the next one is opened behind it. */
  claim(signal?: AbortSignal): Promise<Spare>;
  /** Lets go of those that wait, since the way to them may be gone without their knowing yet. */
  renew(): void;
  close(): void;
}

/**
 * Opening a shell competes with the command that was just given one, on the target and in its engine: a short command is over
 * by then (docker: 14 ms instead of 80), and the next shell is still ready before a model's next call.
 */
const REFILL_AFTER_MS = 50;

/** Without a command that had to wait for its shell in so long, there are no more kept than at the beginning. */
const CALM_MS = 60_000;

export interface SpareCounts {
  /** So many shells are kept waiting. With 0, each command opens its own. */
  readonly least: number;
  /** One more is kept each time that a command found none ready, up to so many: where opening one takes several round trips. */
  readonly most: number;
}

export function createSpares(open: () => Promise<Spare>, { least, most }: SpareCounts): Spares {
  const ready: Spare[] = [];
  const waiting: { readonly resolve: (spare: Spare) => void; readonly reject: (error: unknown) => void }[] = [];
  let count = least;
  let shortMs = performance.now();
  let opening = 0;
  let closed = false;
  let refill: ReturnType<typeof setTimeout> | undefined;

  const gone = (): GloveboxError => new GloveboxError("gone", "The connection is closed. Open a new one.", { retrySafe: true });

  function fill(): void {
    while (!closed && ready.length + opening < count + waiting.length) {
      opening += 1;
      void open().then(
        (spare) => {
          opening -= 1;
          if (closed) return spare.destroy();
          const first = waiting.shift();
          if (first === undefined) ready.push(spare);
          else first.resolve(spare);
          fill();
        },
        (error: unknown) => {
          opening -= 1;
          // Nobody waits: the next command will find out.
          waiting.shift()?.reject(error);
          if (waiting.length > 0) fill();
        },
      );
    }
  }

  fill();
  return {
    async claim(signal) {
      if (signal?.aborted) throw abortError(signal, { retrySafe: true });
      if (closed) throw gone();
      if (performance.now() - shortMs > CALM_MS) count = least;
      for (let spare = ready.shift(); spare !== undefined; spare = ready.shift()) {
        if (!spare.alive) continue;
        refill ??= setTimeout(() => {
          refill = undefined;
          fill();
        }, REFILL_AFTER_MS);
        return spare;
      }
      shortMs = performance.now();
      if (count > 0) count = Math.min(count + 1, most);
      return await new Promise<Spare>((resolve, reject) => {
        const settle = (): void => signal?.removeEventListener("abort", leave);
        const entry = {
          resolve(spare: Spare) {
            settle();
            resolve(spare);
          },
          reject(error: unknown) {
            settle();
            reject(error);
          },
        };
        const leave = (): void => {
          waiting.splice(waiting.indexOf(entry), 1);
          reject(abortError(signal as AbortSignal, { retrySafe: true }));
        };
        signal?.addEventListener("abort", leave, { once: true });
        waiting.push(entry);
        fill();
      });
    },
    renew() {
      for (const spare of ready.splice(0)) spare.destroy();
      fill();
    },
    close() {
      closed = true;
      clearTimeout(refill);
      for (const spare of ready.splice(0)) spare.destroy();
      for (const { reject } of waiting.splice(0)) reject(gone());
    },
  };
}
