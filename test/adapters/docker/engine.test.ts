import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { inspectContainer } from "../../../adapters/docker/containers.js";
import { connectEngine, type Engine } from "../../../adapters/docker/engine.js";
import { dockerTransport } from "../../../adapters/docker/transport.js";

/*
 * Servers that stand where an engine should and misbehave as no real one can be made to.
 */
const cleanups: (() => void)[] = [];

afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

async function engineThat(answer: (socket: Socket, request: string) => void): Promise<Engine> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("data", (data) => answer(socket, data.toString("latin1")));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const engine = connectEngine({ host: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}` });
  cleanups.push(() => {
    engine.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return engine;
}

const id = "a".repeat(64);
const look = (engine: Engine, deadlineMs = 300, signal?: AbortSignal) =>
  engine.call({ what: "look", deadlineMs, readOnly: true, signal }, (docker, abortSignal) =>
    docker.getContainer(id).inspect({ abortSignal }),
  );

const response = (status: string, body: string, headers = ""): string =>
  `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

describe("an engine's call", () => {
  it("D36 settles by its deadline when nothing answers", async () => {
    const engine = await engineThat(() => undefined);
    await expect(look(engine)).rejects.toMatchObject({ code: "timeout", retrySafe: true, details: { deadlineMs: 300 } });
  });

  it("D36 settles by its deadline when the answer stops half way", async () => {
    const engine = await engineThat((socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"));
    await expect(look(engine)).rejects.toMatchObject({ code: "timeout" });
  });

  it("settles when its signal fires, with the signal's reason", async () => {
    const engine = await engineThat(() => undefined);
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 50);
    await expect(look(engine, 60_000, controller.signal)).rejects.toMatchObject({ code: "aborted" });
    await expect(look(engine, 60_000, controller.signal)).rejects.toMatchObject({ code: "aborted", retrySafe: true });
  });

  it("is tried once more when the connection is cut and it changes nothing", async () => {
    let requests = 0;
    const engine = await engineThat((socket) => {
      requests += 1;
      if (requests === 1) socket.destroy();
      else socket.write(response("200 OK", "{}"));
    });
    expect(await look(engine)).toEqual({});
    expect(requests).toBe(2);
  });

  it("is not tried again when it might have changed something", async () => {
    let requests = 0;
    const engine = await engineThat((socket) => {
      requests += 1;
      socket.destroy();
    });
    const starting = engine.call({ what: "start", deadlineMs: 1000 }, (docker, abortSignal) =>
      docker.getContainer(id).start({ abortSignal }),
    );
    await expect(starting).rejects.toMatchObject({ code: "disconnected", retrySafe: false });
    expect(requests).toBe(1);
  });

  it("says what is wrong with the way to the engine", async () => {
    const nowhere = connectEngine({ host: "unix:///nonexistent/docker.sock" });
    await expect(look(nowhere)).rejects.toMatchObject({
      code: "disconnected",
      retrySafe: true,
      message: expect.stringContaining("DOCKER_HOST"),
    });
    const refusing = connectEngine({ host: "tcp://127.0.0.1:1" });
    await expect(look(refusing)).rejects.toMatchObject({ code: "disconnected", retrySafe: true });
    nowhere.close();
    refusing.close();
  });

  it.each([
    ["400 Bad Request", "unknown runtime", "invalid_argument"],
    ["403 Forbidden", "no", "permission_denied"],
    ["404 Not Found", "No such container: x", "gone"],
    ["404 Not Found", "network x not found", "not_found"],
    ["409 Conflict", "Container x is paused, unpause the container before exec", "busy"],
    ["409 Conflict", "Container x is not running", "gone"],
    ["409 Conflict", 'The container name "/x" is already in use by container y', "exists"],
    ["500 Internal Server Error", "write: no space left on device", "no_space"],
    ["500 Internal Server Error", "boom", "unexpected"],
  ])("maps %s %j to %s", async (status, message, code) => {
    const engine = await engineThat((socket) => socket.write(response(status, JSON.stringify({ message }))));
    await expect(look(engine)).rejects.toMatchObject({ code, details: { engineMessage: message } });
  });

  it("F2 survives a redirect to a host named by whoever answers", async () => {
    const engine = await engineThat((socket) => socket.write(response("301 Moved", "", "Location: http://images.invalid/x\r\n")));
    await expect(look(engine)).rejects.toMatchObject({ code: "unexpected" });
  });

  it("survives rubbish instead of HTTP", async () => {
    const engine = await engineThat((socket) => socket.end("\0\x01\x02 not http\r\n\r\n"));
    await expect(look(engine)).rejects.toMatchObject({ code: "unexpected" });
  });
});

describe("a transport over an engine that misbehaves", () => {
  const start = (engine: Engine) =>
    dockerTransport({ engine, containerId: id, label: "docker://x", user: "1000:1000" }).start(["sh"], { purpose: "lane" });
  const execId = "b".repeat(64);

  it("refuses an exec id that is none", async () => {
    const engine = await engineThat((socket) => socket.write(response("201 Created", JSON.stringify({ Id: "../containers/x?force=1" }))));
    await expect(start(engine)).rejects.toMatchObject({ code: "unexpected" });
  });

  it("says that a proxy keeps the connection to itself", async () => {
    const engine = await engineThat((socket, request) => {
      if (request.includes("/start")) socket.write(response("200 OK", ""));
      else socket.write(response("201 Created", JSON.stringify({ Id: execId })));
    });
    await expect(start(engine)).rejects.toMatchObject({ code: "unsupported" });
  });

  it("R35 an upgraded connection that is cut at once is a lost process, not a crash", async () => {
    const engine = await engineThat((socket, request) => {
      if (request.includes("/start")) {
        socket.write("HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n");
        socket.resetAndDestroy();
      } else if (request.startsWith("POST")) socket.write(response("201 Created", JSON.stringify({ Id: execId })));
      else socket.destroy();
    });
    const lost = await start(engine).then(
      async (process) => await process.outcome,
      (error: { code: string }) => ({ kind: "lost", error }),
    );
    expect(lost).toMatchObject({ kind: "lost", error: { code: expect.stringMatching(/unknown_outcome|disconnected/) } });
  });

  it("takes a clean end of the stream for nothing when nobody can say how the process ended", async () => {
    const engine = await engineThat((socket, request) => {
      if (request.includes("/start")) {
        socket.write("HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n");
        setTimeout(() => socket.end(), 20);
      } else if (request.startsWith("POST")) socket.write(response("201 Created", JSON.stringify({ Id: execId })));
      else if (request.includes("/exec/")) socket.write(response("404 Not Found", JSON.stringify({ message: "No such exec instance" })));
      else socket.write(response("200 OK", JSON.stringify({ Id: id, State: { Running: true, Status: "running" } })));
    });
    const process = await start(engine);
    expect(await process.outcome).toMatchObject({ kind: "lost", error: { code: "unknown_outcome", retrySafe: false } });
  });

  it("reads a container's end from the engine", async () => {
    const engine = await engineThat((socket) =>
      socket.write(response("404 Not Found", JSON.stringify({ message: `No such container: ${id}` }))),
    );
    await expect(start(engine)).rejects.toMatchObject({ code: "gone" });
    await expect(inspectContainer(engine, id)).rejects.toMatchObject({ code: "gone" });
  });
});
