import type { ListedSandbox } from "../fleet/index.js";

/** A line for each sandbox, in an order that stays. `now` and ages are the engine's milliseconds since the epoch. */
export function sandboxTable(sandboxes: readonly ListedSandbox[], now: number): string {
  const sorted = [...sandboxes].sort((one, other) => (one.name < other.name ? -1 : 1));
  const several = sandboxes.some(({ engine }) => engine !== undefined);
  const rows = sorted.map(({ name, state, owner, createdMs, engine = "-" }) => [
    name,
    state,
    owner === "nobody" ? "-" : "a live process",
    age(now - createdMs),
    ...(several ? [engine] : []),
  ]);
  const all = [["SANDBOX", "STATE", "OWNER", "AGE", ...(several ? ["ENGINE"] : [])], ...rows];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ");
  return all.map((row) => `${line(row).trimEnd()}\n`).join("");
}

/** `prod: 3 sandboxes, 2 running, 1 paused`. */
export function sandboxCounts(id: string, sandboxes: readonly ListedSandbox[]): string {
  const states = new Map<string, number>();
  for (const { state } of sandboxes) states.set(state, (states.get(state) ?? 0) + 1);
  const counts = [...states].sort().map(([state, count]) => `${count} ${state}`);
  return [`${id}: ${sandboxes.length} sandbox${sandboxes.length === 1 ? "" : "es"}`, ...counts].join(", ");
}

function age(timeMs: number): string {
  const minutes = Math.max(0, Math.floor(timeMs / 60_000));
  return minutes < 60 ? `${minutes}m` : minutes < 60 * 48 ? `${Math.floor(minutes / 60)}h` : `${Math.floor(minutes / 60 / 24)}d`;
}
