/** How often each fault is injected: 30 in CI, what FAULTS_N says for a full run. */
export const trials = Math.max(1, Number(process.env.FAULTS_N ?? 30));

/** For faults that take a second and more each, because a container or a process has to be made for it. */
export const fewTrials = Math.max(2, Math.ceil(trials / 10));

export async function repeat(times: number, run: (round: number) => Promise<void>): Promise<void> {
  for (let round = 0; round < times; round += 1) await run(round);
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
