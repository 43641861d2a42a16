import type { Readable } from "node:stream";
import { GloveboxError } from "../../src/contract/errors.js";
import type { OutputStream } from "../../src/contract/operations.js";
import { outputSplitter } from "./output-splitter.js";
import type { ProcessOutcome, RemoteProcess } from "./transport.js";

/** How the shell says that the command ended; scripts/spare.ts. */
export type Report =
  | {
      readonly kind: "exit";
      readonly status: number;
      readonly signalled: boolean;
      readonly outOfMemory: boolean;
      readonly background: readonly number[];
    }
  | { readonly kind: "not_started"; readonly why: string };

export interface CommandEnd {
  readonly outcome: ProcessOutcome;
  /** Missing when the shell was killed before it could say. */
  readonly report?: Report;
}

export interface Spare {
  readonly tag: string;
  /** The runner's pid, which becomes the command's, and its group's and session's. */
  readonly pid: number;
  readonly alive: boolean;
  /**
   * Sends the request (a line, and what follows it) and delivers the output, one chunk of a stream after the other.
   * Resolves when the command has ended; what `deliver` throws is thrown on at once, with the command still running.
   */
  run(
    line: string,
    payload: readonly Uint8Array[],
    deliver: (chunk: Buffer, stream: OutputStream) => void | Promise<void>,
  ): Promise<CommandEnd>;
  /** Lets go of the transport's process, whatever it does. */
  destroy(): void;
}

const READY_MS = 20_000;
/** From the last word of the command's shell to the authority's word about it. */
const OUTCOME_MS = 10_000;
/** After the authority's word: so long may nothing come before what is still on its way counts as lost. */
const TAIL_MS = 500;
/** The end of stdin is a trip of its own between an engine and its helpers, which a shell that leaves by itself can do without. */
const END_AFTER_MS = 100;
const MAX_STDERR_BYTES = 2048;

/** Makes a spare of a process that was started with `BOOT`. Resolves when it waits for its command. */
export async function openSpare(
  process: RemoteProcess,
  script: string,
  { tag, marker }: { readonly tag: string; readonly marker: string },
): Promise<Spare> {
  const { stdin } = process;
  let deliver: ((chunk: Buffer, stream: OutputStream) => void | Promise<void>) | undefined;
  let alive = true;
  let greet = (_pid: number): void => {};
  const greeting = new Promise<number>((resolve) => {
    greet = resolve;
  });
  let fail = (_error: unknown): void => {};
  const failed = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  failed.catch(() => undefined);
  let said = "";
  let delivering = 0;
  let lastMs = performance.now();

  /** Resolves when nothing has come for so long, and whoever takes the output is not behind. */
  const quiet = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setInterval(() => {
        if (delivering > 0 || performance.now() - lastMs < ms) return;
        clearInterval(timer);
        resolve();
      }, 50);
    });

  /** False when whoever takes the output wants no more of it. */
  const hand = async (data: Buffer, name: OutputStream): Promise<boolean> => {
    delivering += 1;
    try {
      await deliver?.(data, name);
      return true;
    } catch (error) {
      fail(error);
      return false;
    } finally {
      delivering -= 1;
      lastMs = performance.now();
    }
  };

  /** Resolves with the words at the end of the output, or with nothing when the stream ended before. */
  const follow = (stream: Readable, name: OutputStream): { readonly told: Promise<string | undefined>; readonly over: Promise<void> } => {
    const split = outputSplitter(Buffer.from(marker));
    let tell = (_words: string | undefined): void => {};
    const told = new Promise<string | undefined>((resolve) => {
      tell = resolve;
    });
    const over = (async () => {
      let greeted = false;
      try {
        for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
          lastMs = performance.now();
          if (!greeted && name === "stderr") said = (said + String(chunk)).slice(-MAX_STDERR_BYTES);
          for (const piece of split(chunk as Buffer)) {
            if (piece.kind === "output") {
              if (!(await hand(Buffer.from(piece.data), name))) return;
            } else if (greeted) {
              tell(piece.words);
            } else {
              greeted = true;
              if (name === "stdout") greet(Number(piece.words));
            }
          }
        }
      } catch {
        // The stream broke off; the outcome says why.
      } finally {
        tell(undefined);
      }
    })();
    return { told, over };
  };

  const stdout = follow(process.stdout, "stdout");
  const stderr = follow(process.stderr, "stderr");
  stdin.write(`${script}\n.\n`);
  const started = process.outcome.then((outcome) => {
    alive = false;
    throw outcome.kind === "lost" ? outcome.error : notReady(said);
  });
  started.catch(() => undefined);
  let pid: number;
  try {
    pid = await within(READY_MS, Promise.race([greeting, started]), () => {
      throw notReady(said);
    });
  } catch (error) {
    process.destroy();
    throw error;
  }

  const finish = async (): Promise<CommandEnd> => {
    const told = Promise.all([stdout.told, stderr.told]);
    // The authority can be quicker than the output that is still on its way.
    await Promise.race([told, process.outcome.then(() => quiet(TAIL_MS)), failed]);
    const words = await Promise.race([told, Promise.resolve([undefined, undefined])]);
    // All is here: the relays may go, and with them whoever kept their pipes open.
    stdin.write("done\n");
    const ending = setTimeout(() => stdin.end(), END_AFTER_MS);
    void process.outcome.then(() => clearTimeout(ending));
    const outcome = await within(OUTCOME_MS, process.outcome, (): ProcessOutcome => ({ kind: "lost", error: unheard() }));
    const text = words[0] ?? words[1];
    return { outcome, ...(text === undefined ? {} : { report: parseReport(text) }) };
  };

  return {
    tag,
    pid,
    get alive() {
      return alive;
    },
    async run(line, payload, take) {
      deliver = take;
      const end = finish();
      end.catch(() => undefined);
      let room = stdin.write(`${line}\n`);
      for (const bytes of payload) {
        for (let at = 0; at < bytes.byteLength; at += 65_536) {
          if (!room) await Promise.race([drained(process), end]);
          room = stdin.write(bytes.subarray(at, at + 65_536));
        }
      }
      return await end;
    },
    destroy() {
      alive = false;
      deliver = undefined;
      process.destroy();
    },
  };
}

function parseReport(text: string): Report {
  const [kind, ...words] = text.split(" ");
  if (kind === "exit") {
    const [status, signalled, before, after, ...pids] = words.map(Number);
    return {
      kind: "exit",
      status: status ?? 0,
      signalled: signalled === 1,
      outOfMemory: Number.isInteger(before) && Number.isInteger(after) && Number(after) > Number(before),
      background: pids.filter((pid) => Number.isInteger(pid) && pid > 0),
    };
  }
  return { kind: "not_started", why: kind === "no" ? words.join(" ") : "killed" };
}

function drained({ stdin }: RemoteProcess): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stdin.off("drain", done).off("close", done);
      resolve();
    };
    if (stdin.destroyed) return resolve();
    stdin.on("drain", done).on("close", done);
  });
}

async function within<Result>(ms: number, work: Promise<Result>, otherwise: () => Result): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    const first = await Promise.race([work.then((result) => ({ result })), late]);
    return first === undefined ? otherwise() : first.result;
  } finally {
    clearTimeout(timer);
  }
}

function notReady(said: string): GloveboxError {
  const why = said.trim() === "" ? "" : ` It said: ${said.trim().slice(0, 500)}`;
  return new GloveboxError(
    "not_started",
    `A shell for commands could not be made ready on the target.${why} The command did not run; try again.`,
    { retrySafe: true },
  );
}

function unheard(): GloveboxError {
  return new GloveboxError("unknown_outcome", "The command's end was never confirmed. Check what it did before running it again.");
}
