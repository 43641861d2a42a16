import { Worker } from "node:worker_threads";
import { abortError, GloveboxError } from "../../contract/errors.js";

export interface Matcher {
  /** Positions of the texts that match, in order, `most` at most. Rejects `timeout`, or what `signal` stands for. */
  match(texts: readonly string[], most: number, signal?: AbortSignal): Promise<readonly number[]>;
  close(): void;
}

/** For patterns that cannot run away: it runs here. */
export function directMatcher(regex: RegExp): Matcher {
  return {
    async match(texts, most) {
      const found: number[] = [];
      for (let index = 0; index < texts.length && found.length < most; index += 1) {
        if (regex.test(texts[index] ?? "")) found.push(index);
      }
      return found;
    },
    close() {},
  };
}

/* Source text, since a worker's own module would have to be found again after bundling, and in TypeScript before it. */
const PROGRAM = `
const { parentPort, workerData: regex } = require("node:worker_threads");
parentPort.on("message", ([texts, most]) => {
  const found = [];
  for (let index = 0; index < texts.length && found.length < most; index += 1) {
    if (regex.test(texts[index])) found.push(index);
  }
  parentPort.postMessage(found);
});
`;

/**
 * For any pattern: it runs in a worker thread, started at the first call, so that one which backtracks for ever costs
 * `deadlineMs` and holds nobody else up. One call at a time. Close it when done.
 */
export function workerMatcher(regex: RegExp, deadlineMs: number): Matcher {
  let worker: Worker | undefined;
  const close = (): void => {
    void worker?.terminate();
    worker = undefined;
  };
  return {
    close,
    match: (texts, most, signal) =>
      new Promise((resolve, reject) => {
        worker ??= new Worker(PROGRAM, { eval: true, workerData: regex, env: {}, execArgv: [] });
        const own = worker;
        const fail = (error: GloveboxError): void => {
          settle();
          close();
          reject(error);
        };
        const timer = setTimeout(() => fail(tooSlow(regex, deadlineMs)), deadlineMs);
        const abort = (): void => fail(abortError(signal as AbortSignal, { retrySafe: true }));
        const succeed = (found: readonly number[]): void => {
          settle();
          resolve(found);
        };
        const broken = (cause: unknown): void =>
          fail(new GloveboxError("unexpected", "The thread that matches patterns failed. Search again.", { retrySafe: true, cause }));
        const settle = (): void => {
          clearTimeout(timer);
          signal?.removeEventListener("abort", abort);
          own.off("message", succeed).off("error", broken).off("exit", broken);
        };
        if (signal?.aborted) return abort();
        signal?.addEventListener("abort", abort, { once: true });
        own.once("message", succeed).once("error", broken).once("exit", broken);
        own.postMessage([texts, most]);
      }),
  };
}

function tooSlow(regex: RegExp, deadlineMs: number): GloveboxError {
  return new GloveboxError(
    "timeout",
    `The pattern ${JSON.stringify(regex.source)} was still at one file after ${deadlineMs / 1000} s, so the search was given up. Repetition inside repetition, as in (a+)+, does that: write it simpler, or search with literal: true.`,
    { retrySafe: true },
  );
}
