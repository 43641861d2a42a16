import { describe, inject } from "vitest";
import type { TargetName, TargetState } from "./targets.js";

/** What the global setup found out about a target. */
export function targetState(name: TargetName): TargetState {
  return inject("targets")[name];
}

/**
 * A describe block that needs real targets. Where one is missing, the block shows up as skipped, with the reason in its
 * title; in CI the global setup has failed before that.
 */
export function describeTarget(needed: TargetName | readonly TargetName[], title: string, body: () => void): void {
  for (const name of [needed].flat() as readonly TargetName[]) {
    const state = targetState(name);
    if (!state.ready) {
      describe.skip(`${title} (${name}: ${state.reason})`, body);
      return;
    }
  }
  describe(title, body);
}
