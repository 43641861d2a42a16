import { Duplex } from "node:stream";
import type { OnLink } from "./member.js";

/** What HTTP asks of a socket beside a stream's methods. */
type SocketMethods = Record<"setKeepAlive" | "setNoDelay" | "setTimeout" | "ref" | "unref", () => Duplex>;

/**
 * A forwarded channel as the socket that HTTP takes it for. Where the channel ends because its connection broke, the
 * socket is reset (`ECONNRESET`), so that nobody takes half an answer for a whole one.
 */
export function channelSocket({ channel, gone, lost }: OnLink<Duplex>): Duplex {
  const socket = new Duplex({
    allowHalfOpen: true,
    read: () => void channel.resume(),
    write: (chunk: Buffer, _encoding, callback) => void channel.write(chunk, callback),
    final(callback) {
      channel.end();
      callback();
    },
    destroy(error, callback) {
      channel.destroy();
      // What still comes has to be taken, or the channel never closes.
      channel.resume();
      callback(error);
    },
  });
  const reset = (message: string): void => {
    if (!socket.readableEnded) socket.destroy(Object.assign(new Error(message), { code: "ECONNRESET" }));
    else socket.destroy();
  };
  channel.on("error", () => undefined);
  channel.on("data", (chunk: Buffer) => {
    if (!socket.destroyed && !socket.push(chunk)) channel.pause();
  });
  channel.once("end", () => {
    const reason = lost();
    if (reason !== undefined) reset(reason.message);
    else socket.push(null);
  });
  channel.once("close", () => {
    if (socket.readableEnded) socket.destroy();
    else socket.once("end", () => socket.destroy());
  });
  void gone.then(({ message }) => reset(message));
  const itself = (): Duplex => socket;
  const methods: SocketMethods = { setKeepAlive: itself, setNoDelay: itself, setTimeout: itself, ref: itself, unref: itself };
  return Object.assign(socket, methods);
}
