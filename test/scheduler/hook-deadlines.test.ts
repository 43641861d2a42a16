import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { runUnder } from "./fixtures.js";

const never = () => new Promise<never>(() => undefined);

describe("deadlines of hooks", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("Q06 T16 a beforeToolCall that hangs blocks after 5 s, and its signal fires", async () => {
    let signal: AbortSignal | undefined;
    const running = runUnder({
      beforeToolCall: (context) => {
        signal = context.signal;
        return never();
      },
    });
    await vi.advanceTimersByTimeAsync(4_999);
    expect(signal?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    const outcome = await running;
    expect(signal?.aborted).toBe(true);
    expect(outcome.lines).toEqual([
      "1 timeout note did not run: a check that every call has to pass did not answer in time. Tell the user if it happens again.",
    ]);
    expect(outcome.failures).toEqual(["hook_failed 1 beforeToolCall: it did not answer within 5000 ms"]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("an afterToolCall that hangs withholds the result after its time", async () => {
    const running = runUnder({ afterToolCall: never, hookTimeoutMs: 700 });
    await vi.advanceTimersByTimeAsync(700);
    const outcome = await running;
    expect(JSON.stringify(outcome.batch)).not.toContain("1234");
    expect(outcome.lines[0]).toMatch(/^1 timeout note ran, but its result is withheld/);
  });

  it("a person has a deadline of their own", async () => {
    const running = runUnder({ beforeToolCall: () => ({ ask: "May it?" }), ask: never, askTimeoutMs: 60_000 });
    await vi.advanceTimersByTimeAsync(60_000);
    const outcome = await running;
    expect(outcome.ran).toEqual([]);
    expect(outcome.lines).toEqual([
      "1 timeout note did not run: it needs a person's consent, and nobody answered within 60 s. Go on without it, or tell the user what you wait for.",
    ]);
  });

  it("what a hook does after its time changes nothing and harms nobody", async () => {
    let reject: ((error: Error) => void) | undefined;
    const running = runUnder({ beforeToolCall: () => new Promise<undefined>((_, fail) => (reject = fail)) });
    await vi.advanceTimersByTimeAsync(5_000);
    const outcome = await running;
    reject?.(new Error("late"));
    await vi.advanceTimersByTimeAsync(10);
    expect(outcome.ran).toEqual([]);
    expect(outcome.failures).toHaveLength(1);
  });
});
