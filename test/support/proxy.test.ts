import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { loopback } from "./loopback.js";
import { startProxy } from "./proxy.js";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

interface TestServer {
  readonly port: number;
  readonly sockets: ReadonlySet<Socket>;
}

async function serve(onSocket: (socket: Socket) => void): Promise<TestServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => sockets.delete(socket));
    onSocket(socket);
  });
  servers.push(server.listen(0, loopback));
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return { port: address.port, sockets };
}

const echo = (): Promise<TestServer> => serve((socket) => socket.pipe(socket));
const hash = (data: Buffer): string => createHash("sha256").update(data).digest("hex");

/** Sends everything, then ends; returns the hash of all that came back, and in how many reads. */
async function roundTrip(port: number, data: Buffer): Promise<{ readonly hash: string; readonly reads: number }> {
  const socket = connect({ port, host: loopback, allowHalfOpen: true });
  const digest = createHash("sha256");
  let reads = 0;
  socket.on("data", (chunk: Buffer) => {
    reads++;
    digest.update(chunk);
  });
  socket.end(data);
  await once(socket, "end");
  return { hash: digest.digest("hex"), reads };
}

/** Counts what comes until the connection is closed, and tells how it ended. */
async function readAll(socket: Socket): Promise<{ readonly bytes: number; readonly code: string | undefined }> {
  let bytes = 0;
  let code: string | undefined;
  socket.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
  });
  socket.on("error", (error: NodeJS.ErrnoException) => {
    code = error.code;
  });
  await new Promise((resolve) => socket.once("close", resolve));
  return { bytes, code };
}

describe("the link proxy", () => {
  it("passes everything on, in order, whatever the link is like", async () => {
    const { port } = await echo();
    await using proxy = await startProxy({ port });
    const data = randomBytes(2_000_000);
    expect((await roundTrip(proxy.port, data)).hash).toBe(hash(data));
    proxy.shape({ rttMs: 30 });
    expect((await roundTrip(proxy.port, data)).hash).toBe(hash(data));
    expect(proxy.delivered).toEqual({ toServer: 4_000_000, toClient: 4_000_000 });

    proxy.shape({ rttMs: 0, slice: { minBytes: 1, maxBytes: 7 } });
    const sliced = await roundTrip(proxy.port, data.subarray(0, 10_000));
    expect(sliced.hash).toBe(hash(data.subarray(0, 10_000)));
    expect(sliced.reads).toBeGreaterThan(1000);
  });

  it("adds the round trip time it was told, and counts turns", async () => {
    const { port } = await echo();
    await using proxy = await startProxy({ port }, { rttMs: 20 });
    const socket = connect({ port: proxy.port, host: loopback, noDelay: true });
    const times: number[] = [];
    for (let turn = 0; turn < 10; turn++) {
      const before = performance.now();
      socket.write("x");
      await once(socket, "data");
      times.push(performance.now() - before);
    }
    expect(Math.min(...times)).toBeGreaterThanOrEqual(20);
    expect(Math.min(...times)).toBeLessThan(30);
    expect(proxy.turns).toBe(10);
    socket.destroy();
  });

  it("keeps to a bandwidth", async () => {
    const { port } = await echo();
    await using proxy = await startProxy({ port }, { bytesPerSecond: 1_000_000 });
    const before = performance.now();
    await roundTrip(proxy.port, Buffer.alloc(200_000));
    expect(performance.now() - before).toBeGreaterThan(195);
  });

  it.each([1, 777, 65_536, 99_999])("resets both sides after exactly %i bytes", async (bytes) => {
    const server = await serve((socket) => socket.resume().write(Buffer.alloc(100_000)));
    await using proxy = await startProxy({ port: server.port });
    const isCut = proxy.cutAfter(bytes, "toClient");
    expect(await readAll(connect(proxy.port, loopback))).toEqual({ bytes, code: "ECONNRESET" });
    await isCut;
    await sleep(20);
    expect([proxy.open, server.sockets.size]).toEqual([0, 0]);
    // The link itself is whole.
    const again = connect(proxy.port, loopback);
    await once(again, "data");
    again.destroy();
  });

  it("a black hole tells nobody anything until it is gone", async () => {
    const received: string[] = [];
    const server = await serve((socket) => socket.on("data", (chunk) => received.push(String(chunk))));
    await using proxy = await startProxy({ port: server.port });
    const early = connect(proxy.port, loopback);
    early.write("before ");
    await sleep(50);
    proxy.blackhole();
    early.write("during ");
    const late = connect(proxy.port, loopback);
    await once(late, "connect");
    await sleep(50);
    expect(received).toEqual(["before "]);
    proxy.restore();
    await sleep(50);
    expect(received).toEqual(["before ", "during "]);

    proxy.blackhole();
    early.destroy();
    late.resetAndDestroy();
    await sleep(50);
    expect(server.sockets.size).toBe(2);
    proxy.restore();
    await sleep(50);
    expect(server.sockets.size).toBe(0);
  });

  it("refuses, and forgives", async () => {
    const { port } = await echo();
    await using proxy = await startProxy({ port });
    proxy.refuse();
    expect(await readAll(connect(proxy.port, loopback))).toEqual({ bytes: 0, code: "ECONNRESET" });
    proxy.restore();
    expect((await roundTrip(proxy.port, Buffer.from("x"))).hash).toBe(hash(Buffer.from("x")));
  });
});
