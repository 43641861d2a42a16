import { abortError, GloveboxError } from "../../src/contract/errors.js";
import { type Frame, type Lane, type LaneCall, LaneLost } from "./lane.js";
import { wordsOf } from "./reply.js";
import { BOOT, openShLane } from "./sh-lane.js";
import type { Transport } from "./transport.js";

/** With so many calls waiting in the best lane, a further one is worth its start. */
const CROWDED = 3;
/** Lanes beyond the first that nobody needs are let go of after this time. */
const IDLE_MS = 60_000;
/** The first sign of life of a lane. */
const HELLO_MS = 20_000;
const MAX_TRIES = 3;
/** For a lane to end by itself. */
const GOODBYE_MS = 3_000;

export interface LanePoolOptions {
  readonly transport: Transport;
  readonly shell: readonly string[];
  /** What makes a fresh lane one of this connection. */
  readonly script: () => string;
  readonly maxFileLanes: number;
  readonly maxBusyLanes: number;
  /** Told when the target cannot be reached any more, and when it can again. */
  readonly onLost: (reason: GloveboxError) => void;
  readonly onRestored: () => void;
}

export interface LanePool {
  /** A small request, on a lane that others share. `repeat`: it may be sent again when its lane is lost. */
  call(call: LaneCall, options: { readonly repeat: boolean }): Promise<readonly Frame[]>;
  /** A lane for `job` alone: for what takes long, moves much or keeps state on the target. */
  alone<Result>(job: (lane: Lane) => Promise<Result>, signal?: AbortSignal): Promise<Result>;
  /** Makes sure that the process of a lost lane does nothing any more. False when that cannot be known. */
  isGone(lane: Lane): Promise<boolean>;
  /** No new lanes from here on. Resolves when those there are have ended. */
  close(): Promise<void>;
}

export interface Identity {
  readonly pid: number;
  readonly start: string;
}

export function createLanePool(options: LanePoolOptions, first?: { readonly lane: Lane; readonly identity: Identity }): LanePool {
  const { transport, shell, script, maxFileLanes, maxBusyLanes, onLost, onRestored } = options;
  const shared: Lane[] = [];
  const idle: Lane[] = [];
  const waiting: (() => void)[] = [];
  const identities = new WeakMap<Lane, Promise<Identity | undefined>>();
  let opening: Promise<Lane> | undefined;
  let busyLanes = 0;
  let unreachable = false;
  let closed = false;

  if (first !== undefined) {
    identities.set(first.lane, Promise.resolve(first.identity));
    heed(first.lane);
    share(first.lane);
  }

  async function open(): Promise<Lane> {
    if (closed) throw new GloveboxError("gone", `The connection to ${transport.label} is closed. Open a new one.`, { retrySafe: true });
    let lane: Lane;
    try {
      lane = openShLane(await transport.start([...shell, "-c", BOOT, "glovebox"], { purpose: "lane" }), script());
    } catch (error) {
      if (error instanceof GloveboxError) lose(error);
      throw error;
    }
    const hello = lane.call({ verb: "hello", arguments: [], maxReplyBytes: 1024, idleMs: HELLO_MS });
    identities.set(
      lane,
      hello.then(
        (frames) => {
          if (unreachable) onRestored();
          unreachable = false;
          return identityOf(frames);
        },
        () => undefined,
      ),
    );
    heed(lane);
    return lane;
  }

  function heed(lane: Lane): void {
    void lane.lost.then((reason) => {
      // One shell that was killed is not the target.
      if (reason.details.shellEnded !== true) lose(reason);
    });
  }

  function lose(reason: GloveboxError): void {
    if (closed || unreachable || !["disconnected", "gone"].includes(reason.code)) return;
    unreachable = true;
    onLost(reason);
  }

  function share(lane: Lane): void {
    shared.push(lane);
    let timer: ReturnType<typeof setTimeout> | undefined;
    if (shared.length > 1) {
      timer = setInterval(() => {
        if (lane.pending > 0 || shared.length < 2) return;
        remove(shared, lane);
        dismiss(lane);
      }, IDLE_MS);
      timer.unref();
    }
    void lane.lost.then(() => {
      clearInterval(timer);
      remove(shared, lane);
    });
  }

  function grow(): Promise<Lane> {
    opening ??= open()
      .then((lane) => {
        share(lane);
        return lane;
      })
      .finally(() => {
        opening = undefined;
      });
    return opening;
  }

  async function pick(): Promise<Lane> {
    const best = shared.filter(({ alive }) => alive).sort((a, b) => a.pending - b.pending)[0];
    if (best === undefined) return await grow();
    if (best.pending >= CROWDED && shared.length < maxFileLanes) void grow().catch(() => undefined);
    return best;
  }

  async function borrow(signal: AbortSignal | undefined): Promise<Lane> {
    for (;;) {
      if (signal?.aborted) throw abortError(signal, { retrySafe: true });
      const lane = idle.pop();
      if (lane?.alive) return lane;
      if (lane !== undefined) continue;
      if (busyLanes < maxBusyLanes) {
        busyLanes += 1;
        try {
          const fresh = await open();
          void fresh.lost.then(() => {
            busyLanes -= 1;
            waiting.shift()?.();
          });
          return fresh;
        } catch (error) {
          busyLanes -= 1;
          waiting.shift()?.();
          throw error;
        }
      }
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          signal?.removeEventListener("abort", leave);
          resolve();
        };
        const leave = (): void => {
          remove(waiting, wake);
          wake();
        };
        signal?.addEventListener("abort", leave, { once: true });
        waiting.push(wake);
      });
    }
  }

  function giveBack(lane: Lane): void {
    if (!lane.alive) return;
    // Somebody lost patience: what is still on its way is nobody's.
    if (lane.pending > 0) {
      lane.destroy(new GloveboxError("aborted", "The call was aborted.", { retrySafe: true }));
      return;
    }
    if (closed) {
      dismiss(lane);
      return;
    }
    idle.push(lane);
    waiting.shift()?.();
    const timer = setTimeout(() => {
      if (!idle.includes(lane)) return;
      remove(idle, lane);
      dismiss(lane);
    }, IDLE_MS);
    timer.unref();
    void lane.lost.then(() => {
      clearTimeout(timer);
      remove(idle, lane);
    });
  }

  /** It ends by itself, without taking it for a vanished connection. */
  function dismiss(lane: Lane): void {
    void lane.call({ verb: "bye", arguments: [], maxReplyBytes: 0, idleMs: GOODBYE_MS }).catch(() => undefined);
  }

  async function call(request: LaneCall, { repeat }: { readonly repeat: boolean }): Promise<readonly Frame[]> {
    for (let tries = 1; ; tries += 1) {
      const lane = await pick();
      try {
        return await lane.call(request);
      } catch (error) {
        if (!(error instanceof LaneLost)) throw error;
        if (lane.alive === false && error.reason.code !== "disconnected") void isGone(lane);
        const again = !error.sent || (repeat && error.reason.code !== "timeout");
        if (!again || tries >= MAX_TRIES) throw error;
      }
    }
  }

  async function isGone(lane: Lane): Promise<boolean> {
    const identity = await identities.get(lane);
    if (identity === undefined) return false;
    const { pid, start } = identity;
    try {
      const [frame] = await call({ verb: "end_lane", arguments: [pid, start], maxReplyBytes: 1024, idleMs: 10_000 }, { repeat: true });
      return frame !== undefined && wordsOf(frame).first === "ok";
    } catch {
      return false;
    }
  }

  return {
    call,
    isGone,
    async alone(job, signal) {
      const lane = await borrow(signal);
      try {
        return await job(lane);
      } finally {
        giveBack(lane);
      }
    },
    async close() {
      closed = true;
      const all = [...shared.splice(0), ...idle.splice(0)];
      for (const lane of all) dismiss(lane);
      for (const wake of waiting.splice(0)) wake();
      const timer = setTimeout(() => {
        for (const lane of all) lane.destroy(new GloveboxError("gone", "The connection was closed.", { retrySafe: true }));
      }, GOODBYE_MS);
      await Promise.all(all.map(({ lost }) => lost));
      clearTimeout(timer);
    },
  };
}

export function identityOf(frames: readonly Frame[]): Identity | undefined {
  const [frame] = frames;
  if (frame === undefined) return undefined;
  const words = wordsOf(frame);
  const pid = words.number();
  return words.first === "ok" && pid > 0 ? { pid, start: words.take() } : undefined;
}

function remove<Item>(items: Item[], item: Item): void {
  const at = items.indexOf(item);
  if (at !== -1) items.splice(at, 1);
}
