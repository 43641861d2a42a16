import type { Fleet, FleetUser, Lease } from "../../fleet/index.js";
import { type Environment, GloveboxError, type ToolResult } from "../../index.js";
import { type Caller, callerId } from "./caller.js";
import { fleetError } from "./fleet-errors.js";
import type { McpTarget, OwnTargets } from "./targets.js";
import { listedTools, type McpToolsOptions, mcpTools } from "./tools.js";

export interface FleetTargetsOptions {
  /** What everyone is offered in his sandbox. Default: all seven tools. */
  readonly tools?: McpToolsOptions;
  /** Hooks of one user's calls: a policy, say. */
  hooks?(environment: Environment, user: FleetUser): Pick<McpTarget, "beforeToolCall" | "afterToolCall">;
  /** How long a sandbox stays leased after its user's last call is over; less when somebody else waits. Default 60,000. */
  readonly idleMs?: number;
  /** For a sandbox to be ready; a call waits no longer. Default 40,000: within the time that a call may take. */
  readonly deadlineMs?: number;
  /** Why somebody's sandbox could not be had: for whoever runs the server. The model is told what it can do about it. */
  readonly onError?: (error: GloveboxError, user: FleetUser) => void;
}

/** A user's hold on his sandbox: one lease for all of his calls, over whatever sessions. */
interface Seat {
  readonly id: string;
  readonly opening: Promise<{ readonly lease: Lease; readonly target: McpTarget }>;
  readonly controller: AbortController;
  isOpen: boolean;
  calls: number;
  timer: NodeJS.Timeout | undefined;
}

/** How long one who waits for a sandbox waits for those to leave who do not use theirs; and then for each next one. */
const PATIENCE_MS = 250;

/** What says that the connection to the sandbox may be of no more use: the next call asks the fleet again. */
const LOST: ReadonlySet<unknown> = new Set(["gone", "disconnected", "unknown_outcome"]);

/**
 * Each caller's own sandbox in a fleet: leased at his first call, given back when he has not called for a while. All his
 * calls share one environment and one scheduler. Who he is comes from his token alone, so nothing that a call says can
 * name another's sandbox. The fleet stays whoever's it is.
 */
export function fleetTargets(fleet: Pick<Fleet, "acquire">, options: FleetTargetsOptions = {}): OwnTargets {
  const { tools = {}, hooks = () => ({}), idleMs = 60_000, deadlineMs = 40_000, onError = () => undefined } = options;
  const seats = new Map<string, Seat>();
  /** Seats without a call, the one that is idle longest first. */
  const idle = new Set<Seat>();
  const leaving = new Set<Promise<void>>();
  let closed = false;

  async function open(user: FleetUser, signal: AbortSignal): Promise<{ lease: Lease; target: McpTarget }> {
    let lease: Lease | undefined;
    try {
      lease = await fleet.acquire(user.key, { tenant: user.tenant, signal, deadlineMs });
      return { lease, target: { tools: mcpTools(lease.environment, tools), ...hooks(lease.environment, user) } };
    } catch (error) {
      await lease?.release();
      throw fleetError(error, { deadlineMs, onError: (known) => signal.aborted || onError(known, user) });
    }
  }

  function sit(id: string, { name: key, tenant = "" }: Caller): Seat {
    const controller = new AbortController();
    const seat: Seat = { id, controller, opening: open({ key, tenant }, controller.signal), isOpen: false, calls: 0, timer: undefined };
    seats.set(id, seat);
    const makeRoom = setInterval(() => {
      const [longest] = idle;
      if (longest !== undefined) giveBack(longest);
    }, PATIENCE_MS).unref();
    seat.opening.then(
      () => {
        clearInterval(makeRoom);
        seat.isOpen = true;
      },
      () => {
        clearInterval(makeRoom);
        forget(seat);
      },
    );
    return seat;
  }

  /** The next call of this user takes another. */
  function forget(seat: Seat): void {
    clearTimeout(seat.timer);
    idle.delete(seat);
    if (seats.get(seat.id) === seat) seats.delete(seat.id);
  }

  function giveBack(seat: Seat): void {
    forget(seat);
    seat.controller.abort();
    const released = seat.opening.then(
      ({ lease }) => lease.release(),
      () => undefined,
    );
    leaving.add(released);
    void released.then(() => leaving.delete(released));
  }

  function leave(seat: Seat, result: ToolResult | undefined): void {
    seat.calls -= 1;
    if (LOST.has(codeOf(result))) forget(seat);
    if (seat.calls > 0) return;
    if (seats.get(seat.id) !== seat || !seat.isOpen || closed) {
      giveBack(seat);
    } else {
      idle.add(seat);
      seat.timer = setTimeout(() => giveBack(seat), idleMs).unref();
    }
  }

  return {
    tools: listedTools(tools),
    async enter(caller, signal) {
      if (closed) throw new GloveboxError("gone", "The call did not run: the server is shutting down.", { retrySafe: true });
      const id = callerId(caller);
      const seat = seats.get(id) ?? sit(id, caller);
      clearTimeout(seat.timer);
      idle.delete(seat);
      seat.calls += 1;
      try {
        const { target } = await unlessAborted(seat.opening, signal);
        return { target, leave: (result) => leave(seat, result) };
      } catch (error) {
        leave(seat, undefined);
        throw error;
      }
    },
    async close() {
      closed = true;
      for (const seat of [...seats.values()]) giveBack(seat);
      await Promise.all(leaving);
    },
  };
}

function codeOf(result: ToolResult | undefined): unknown {
  const { error } = (result?.details ?? {}) as { readonly error?: { readonly code?: unknown } };
  return result?.isError === true ? error?.code : undefined;
}

/** The work goes on for those who still wait for it. */
async function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => {
      const message = "The call was cancelled while its sandbox was being made ready; nothing was done.";
      reject(signal.reason instanceof GloveboxError ? signal.reason : new GloveboxError("aborted", message, { retrySafe: true }));
    };
  });
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
