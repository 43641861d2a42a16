import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { whenDone } from "./fixtures.js";

/**
 * Passes every request on as it came, Host and Origin included, with the token added: for judges that have none of their
 * own. The server has to allow the proxy's host and origin.
 */
export async function startProxy(): Promise<{ readonly host: string; readonly url: string; aim(port: number, token: string): void }> {
  let target = { port: 0, token: "" };
  const proxy = createServer((asked, answer) => {
    const headers = { ...asked.headers, authorization: `Bearer ${target.token}` };
    const passed = request({ host: "127.0.0.1", port: target.port, path: asked.url, method: asked.method, headers }, (answered) => {
      answer.writeHead(answered.statusCode ?? 502, answered.headers);
      answered.pipe(answer);
    });
    passed.on("error", () => answer.destroy());
    answer.on("close", () => passed.destroy());
    asked.pipe(passed);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  whenDone(
    () =>
      new Promise((resolve) => {
        proxy.close(resolve);
        proxy.closeAllConnections();
      }),
  );
  const host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  return {
    host,
    url: `http://${host}/mcp`,
    aim(port, token) {
      target = { port, token };
    },
  };
}
