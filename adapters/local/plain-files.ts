import type { Stats } from "node:fs";

const MOST = 1024;

/** Files that are known to have no attributes of their own: most have none, and asking costs more than the rest of a write. */
export interface PlainFiles {
  has(stats: Stats): boolean;
  add(stats: Stats): void;
}

/** A file given attributes later, or put elsewhere, has another ctime, and so is known no longer. */
export function createPlainFiles(): PlainFiles {
  const changed = new Map<string, number>();
  const keyOf = ({ dev, ino }: Stats): string => `${dev}:${ino}`;
  return {
    has: (stats) => changed.get(keyOf(stats)) === stats.ctimeMs,
    add(stats) {
      const key = keyOf(stats);
      changed.delete(key);
      changed.set(key, stats.ctimeMs);
      const [oldest] = changed.keys();
      if (changed.size > MOST && oldest !== undefined) changed.delete(oldest);
    },
  };
}
