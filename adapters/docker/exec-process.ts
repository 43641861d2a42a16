import { type Duplex, Writable } from "node:stream";
import { GloveboxError } from "../../src/contract/errors.js";
import type { ProcessOutcome, RemoteProcess } from "../posix/transport.js";
import { demultiplex, type StreamEnd } from "./demultiplex.js";
import { type Fate, neverStarted } from "./exec-fate.js";
import type { Started } from "./start-gate.js";

export interface ExecProcess extends RemoteProcess, Started {
  /** The connection is closed: the engine is not asked any more. */
  abandon(): void;
}

/** While the stream is open, the engine is asked only once stdin has ended, as it has for a command: a lane may live for days. */
const FIRST_LOOK_MS = 150;
const MAX_LOOK_MS = 500;
/** After the stream broke off, or we let go, the process may run on for ever, and nobody waits that long. */
const MAX_LAST_LOOKS = 8;
const MAX_REPORT_WAIT_MS = 1_000;
/** Looks that may run into the engine's deadline of five seconds before the outcome is given up. */
const MAX_UNANSWERED = 4;
const START_LOOK_MS = 30;
const MAX_START_LOOKS = 300;

/**
 * A process started by an exec, on its hijacked connection (to which a listener for errors is attached already). Its
 * outcome comes from the engine's record of the exec alone: the stream's end says nothing, since it comes early (the engine
 * died, the process closed its output) and late (a background child holds the pipes).
 */
export function followExec(socket: Duplex, fate: Fate): ExecProcess {
  let streamEnd: StreamEnd | undefined;
  let stdinEnded = false;
  let letGo = false;
  let abandoned = false;
  let report: string | undefined;
  let wake = (): void => undefined;
  let isKnown = false;
  let decide = (): void => undefined;
  const decided = new Promise<void>((resolve) => {
    decide = () => {
      isKnown = true;
      resolve();
    };
  });
  // Whether it is the process's own words or the engine's: by then the start is over.
  socket.once("data", decide);

  const { stdout, stderr, ended } = demultiplex(socket, {
    async isOutput(line) {
      const state = await fate.look();
      if (state.kind === "ended" && neverStarted(state)) report = line;
      return report === undefined;
    },
  });
  const stdin = new Writable({
    write: (chunk: Uint8Array, _encoding, callback) => void socket.write(chunk, () => callback()),
    final(callback) {
      stdinEnded = true;
      wake();
      socket.end(() => callback());
    },
  });
  stdin.on("error", () => undefined);
  socket.on("close", () => stdin.destroy());
  void ended.then((end) => {
    streamEnd = end;
    wake();
  });

  const isOver = (): boolean => streamEnd !== undefined || letGo;

  function sleep(ms?: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(resolve, ms);
      if (letGo) timer?.unref();
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function settle(): Promise<ProcessOutcome> {
    while (!isOver() && !stdinEnded) await sleep();
    let waitMs = FIRST_LOOK_MS;
    let unanswered = 0;
    for (let looks = 0; ; ) {
      if (!isOver() || looks > 0) await sleep(waitMs);
      if (isOver()) {
        // The first look after the end comes at once, whatever the rhythm was.
        if (looks === 0) waitMs = 0;
        looks += 1;
      }
      if (abandoned) return { kind: "lost", error: closed() };
      const state = await fate.look();
      if (state.kind === "ended") {
        // The record can be there before the engine's own words about it.
        if (neverStarted(state)) await Promise.race([ended, sleep(MAX_REPORT_WAIT_MS)]);
        return await fate.judge(state, { cut: streamEnd === "cut" && !letGo, report });
      }
      if (state.kind === "unknown" && isOver()) {
        // An engine with too much to do answers late; one that is not there says so at once.
        unanswered += 1;
        if (state.error.code !== "timeout" || unanswered >= MAX_UNANSWERED || letGo) return await fate.lost(state.error);
      }
      if (looks >= MAX_LAST_LOOKS && (letGo || streamEnd === "cut")) return await fate.lost();
      waitMs = Math.min(waitMs * 2 + 5, MAX_LOOK_MS);
    }
  }

  async function isDecided(): Promise<boolean> {
    for (let looks = 0; !isKnown && looks < MAX_START_LOOKS; looks += 1) {
      const state = await fate.look();
      const isOpen = state.kind === "running" ? state.pid === 0 : state.kind === "unknown" && state.error.code === "timeout";
      if (isOpen) await new Promise((resolve) => setTimeout(resolve, START_LOOK_MS));
      else decide();
    }
    return isKnown;
  }

  function destroy(): void {
    letGo = true;
    socket.destroy();
    for (const stream of [stdin, stdout, stderr]) stream.destroy();
    wake();
  }

  const outcome = settle();
  // One that was abandoned while it started is still starting.
  void outcome.then(isDecided);
  return {
    stdin,
    stdout,
    stderr,
    outcome,
    decided,
    isDecided,
    destroy,
    abandon() {
      abandoned = true;
      destroy();
    },
  };
}

function closed(): GloveboxError {
  return new GloveboxError(
    "gone",
    "The connection to the container was closed while the process ran. Open a new one; check what was done so far.",
  );
}
