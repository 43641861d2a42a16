import { readdirSync, readFileSync } from "node:fs";

/** The pids of this machine whose environment holds `text`. */
export function pidsWith(text: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`).includes(text);
      } catch {
        return false;
      }
    })
    .map(Number);
}
