/** How often each fault is injected: 30 in CI, what FAULTS_N says for a full run. */
export const trials = Math.max(1, Number(process.env.FAULTS_N ?? 30));

/** A repeatable source of numbers from 0 to 1, so that a failing run can be replayed: set FAULTS_SEED. */
export function seededRandom(): { readonly seed: number; next(): number } {
  const seed = Number(process.env.FAULTS_SEED ?? Date.now() % 2 ** 31);
  let state = seed;
  return {
    seed,
    next() {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state / 2 ** 32;
    },
  };
}
