import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { loopback } from "./loopback.js";
import { type LinkConditions, ProxyPipe } from "./proxy-pipe.js";

export type { LinkConditions } from "./proxy-pipe.js";

export type LinkTarget = { readonly host?: string; readonly port: number } | { readonly socketPath: string };
export type Direction = "toServer" | "toClient";

/** A TCP port on loopback that leads to a server through a link with faults to choose. */
export interface LinkProxy extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  /** Connections accepted so far, and those open now. */
  readonly accepted: number;
  readonly open: number;
  /** Bytes delivered so far. */
  readonly delivered: Readonly<Record<Direction, number>>;
  /** How often the client began to speak after the server had: the round trips of a protocol that waits for answers. */
  readonly turns: number;
  /** Changes the link from now on, for open connections too; what is on its way keeps its delay. */
  shape(conditions: Partial<LinkConditions>): void;
  /** Resets (RST) every open connection, on both sides. New ones are accepted. */
  cut(): void;
  /** Delivers exactly that many more bytes in that direction, over all connections together, then cuts. Resolves when it has. */
  cutAfter(bytes: number, direction: Direction): Promise<void>;
  /** Nothing passes any more and nobody is told: connections stay open, half-open if a side goes; new ones are accepted and never answered. */
  blackhole(): void;
  /** New connections are reset at once; open ones are left alone. */
  refuse(): void;
  /** A perfect link again: no delay, limit, slices, pending cut, blackhole or refusal. What a blackhole held is delivered. */
  restore(): void;
  close(): Promise<void>;
}

const perfect: LinkConditions = { rttMs: 0, bytesPerSecond: undefined, slice: undefined };

/** A Node client that finds the last bytes and a reset in one look reports an orderly end; this lets it read the bytes before. */
const readTimeMs = 15;

interface Connection {
  readonly client: Socket;
  readonly server: Socket;
  readonly pipes: readonly ProxyPipe[];
}

/** The same seed gives the same slices. */
export async function startProxy(
  target: LinkTarget,
  options: Partial<LinkConditions> & { readonly seed?: number } = {},
): Promise<LinkProxy> {
  const { seed = 1, ...initial } = options;
  const random = seededRandom(seed);
  let conditions: LinkConditions = { ...perfect, ...initial };
  let isBlackhole = false;
  let isRefusing = false;
  let accepted = 0;
  let turns = 0;
  let lastSpeaker: Direction = "toClient";
  let pendingCut: { readonly direction: Direction; remaining: number; readonly settle: () => void } | undefined;
  const delivered = { toServer: 0, toClient: 0 };
  const connections = new Set<Connection>();
  const unanswered = new Set<Socket>();

  const listener = createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
    accepted++;
    client.on("error", () => undefined);
    if (isRefusing) reset(client);
    else if (isBlackhole) hold(client);
    else bridge(client);
  });

  function hold(client: Socket): void {
    client.pause();
    unanswered.add(client);
    client.once("close", () => unanswered.delete(client));
  }

  function bridge(client: Socket): void {
    const options =
      "socketPath" in target ? { path: target.socketPath } : { host: target.host ?? loopback, port: target.port, noDelay: true };
    const server = connect({ ...options, allowHalfOpen: true });
    const pipe = (source: Socket, sink: Socket, direction: Direction): ProxyPipe =>
      new ProxyPipe({
        source,
        sink,
        random,
        conditions: () => conditions,
        reserve: (bytes) => {
          if (pendingCut?.direction !== direction) return bytes;
          const granted = Math.min(bytes, pendingCut.remaining);
          pendingCut.remaining -= granted;
          return granted;
        },
        onArrived: () => {
          if (direction === "toServer" && lastSpeaker === "toClient") turns++;
          lastSpeaker = direction;
        },
        onDelivered: (bytes) => {
          delivered[direction] += bytes;
          if (pendingCut?.direction === direction && pendingCut.remaining === 0) setTimeout(cut, readTimeMs);
        },
      });
    const connection: Connection = { client, server, pipes: [pipe(client, server, "toServer"), pipe(server, client, "toClient")] };
    connections.add(connection);
    // A reset on one side is a reset on the other; an orderly end passes through the pipes, in order and delayed.
    const drop = (): void => {
      if (isBlackhole) return;
      cutOne(connection);
    };
    for (const socket of [client, server]) {
      socket.on("error", drop);
      socket.once("close", () => {
        if (client.destroyed && server.destroyed) connections.delete(connection);
      });
    }
  }

  function cut(): void {
    const settle = pendingCut?.settle;
    pendingCut = undefined;
    for (const connection of connections) cutOne(connection);
    for (const client of unanswered) reset(client);
    settle?.();
  }

  function cutAfter(bytes: number, direction: Direction): Promise<void> {
    return new Promise((resolve) => {
      pendingCut = { direction, remaining: bytes, settle: resolve };
      if (bytes === 0) cut();
    });
  }

  function restore(): void {
    conditions = perfect;
    isRefusing = false;
    pendingCut = undefined;
    isBlackhole = false;
    for (const connection of connections) {
      // Who went while nothing passed is known to the other side only now.
      if (connection.client.destroyed || connection.server.destroyed) cutOne(connection);
      else for (const pipe of connection.pipes) pipe.resume();
    }
    for (const client of unanswered) {
      unanswered.delete(client);
      bridge(client);
      client.resume();
    }
  }

  listener.listen(0, loopback);
  await once(listener, "listening");
  const address = listener.address();
  if (address === null || typeof address === "string") throw new Error("a TCP server without a port");

  async function close(): Promise<void> {
    if (!listener.listening) return;
    const closed = once(listener, "close");
    listener.close();
    cut();
    await closed;
  }

  return {
    host: loopback,
    port: address.port,
    get accepted() {
      return accepted;
    },
    get open() {
      return connections.size + unanswered.size;
    },
    delivered,
    get turns() {
      return turns;
    },
    shape(changes) {
      conditions = { ...conditions, ...changes };
    },
    cut,
    cutAfter,
    blackhole() {
      isBlackhole = true;
      for (const { pipes } of connections) for (const pipe of pipes) pipe.halt();
    },
    refuse() {
      isRefusing = true;
    },
    restore,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function cutOne({ client, server, pipes }: Connection): void {
  for (const pipe of pipes) pipe.discard();
  reset(client);
  reset(server);
}

/** A Unix socket knows no reset; there, closing with bytes unread is the nearest thing. */
function reset(socket: Socket): void {
  if (socket.destroyed) return;
  if (socket.remoteAddress === undefined && !socket.connecting) socket.destroy();
  else {
    // Node ends the writable side first; without this, the end would get through, and sometimes be seen before the reset.
    socket._final = (callback) => callback(null);
    socket.resetAndDestroy();
  }
}

/** Mulberry32: small, and good enough to choose sizes. */
function seededRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
