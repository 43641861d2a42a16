/** Middle and 95th percentile of some durations, in milliseconds. */
export interface Spread {
  readonly p50: number;
  readonly p95: number;
}

/** Times `act`, one call after another or with a pause before each, after a tenth as many to warm up. */
export async function measure(times: number, act: (index: number) => Promise<unknown>, pauseMs = 0): Promise<Spread> {
  for (let index = 0; index < Math.ceil(times / 10); index += 1) await act(-1 - index);
  const durations: number[] = [];
  for (let index = 0; index < times; index += 1) {
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    const started = performance.now();
    await act(index);
    durations.push(performance.now() - started);
  }
  return spread(durations);
}

/** The spread of durations measured elsewhere. */
export function spread(durations: readonly number[]): Spread {
  const sorted = [...durations].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
  return { p50: at(0.5), p95: at(0.95) };
}

/** How long one act takes, in milliseconds. */
export async function timed(act: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await act();
  return performance.now() - started;
}

/** `1.23`, `45.6`, `789`: three digits are all that a busy machine can tell. */
export function ms(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** `12.3x`. */
export function ratio(slower: number, faster: number): string {
  const times = slower / faster;
  return `${times >= 100 ? times.toFixed(0) : times.toFixed(1)}x`;
}
