/** Runs jobs one after another, in order of arrival; a failed one is only its caller's concern. */
export type Turn = <Result>(job: () => Promise<Result>) => Promise<Result>;

export function createTurn(): Turn {
  let last: Promise<unknown> = Promise.resolve();
  return (job) => {
    const result = last.then(job);
    last = result.catch(() => undefined);
    return result;
  };
}
