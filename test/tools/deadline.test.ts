import { afterEach, describe, expect, it, vi } from "vitest";
import { GloveboxError } from "../../src/contract/errors.js";
import { MAX_TIMER_MS, withDeadline } from "../../src/tools/deadline.js";

const timedOut = (): GloveboxError => new GloveboxError("timeout", "too long");
const untilAborted = async (signal: AbortSignal): Promise<never> =>
  await new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener("abort", () => reject(signal.reason));
  });

afterEach(() => {
  vi.useRealTimers();
});

describe("withDeadline", () => {
  it("aborts with its own error when the time is over, and leaves no timer behind", async () => {
    vi.useFakeTimers();
    const running = withDeadline(new AbortController().signal, 1000, timedOut, untilAborted);
    const settled = expect(running).rejects.toMatchObject({ code: "timeout" });
    await vi.advanceTimersByTimeAsync(1000);
    await settled;
    expect(await withDeadline(new AbortController().signal, MAX_TIMER_MS, timedOut, async () => "done")).toBe("done");
    expect(vi.getTimerCount()).toBe(0);
  });

  it("aborts with the caller's reason, also one that came before", async () => {
    const controller = new AbortController();
    const running = withDeadline(controller.signal, 60_000, timedOut, untilAborted);
    controller.abort("enough");
    await expect(running).rejects.toBe("enough");
    await expect(withDeadline(controller.signal, 60_000, timedOut, untilAborted)).rejects.toBe("enough");
  });

  it("hands the caller's signal on when there is no deadline", async () => {
    const { signal } = new AbortController();
    expect(await withDeadline(signal, undefined, timedOut, async (inner) => inner === signal)).toBe(true);
  });

  it("settles as the job does, even when it is aborted", async () => {
    const controller = new AbortController();
    const running = withDeadline(controller.signal, 60_000, timedOut, async () => {
      controller.abort();
      return "finished all the same";
    });
    expect(await running).toBe("finished all the same");
  });
});
