import { once } from "node:events";
import { connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export const loopback = "127.0.0.1";

/** A TCP port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, loopback);
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("a TCP server without a port");
  return address.port;
}

/** True once something that listens on the port says a first byte; false if it never does, or `isAlive` says no. */
export async function waitForGreeting(port: number, deadlineMs: number, isAlive: () => boolean): Promise<boolean> {
  const deadline = Date.now() + deadlineMs;
  while (isAlive() && Date.now() < deadline) {
    if (await greets(port, deadline - Date.now())) return true;
    await sleep(20);
  }
  return false;
}

function greets(port: number, waitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, loopback);
    const settle = (greeted: boolean): void => {
      socket.destroy();
      resolve(greeted);
    };
    socket.setTimeout(waitMs, () => settle(false));
    socket.once("data", () => settle(true));
    socket.once("error", () => settle(false));
    socket.once("close", () => settle(false));
  });
}
