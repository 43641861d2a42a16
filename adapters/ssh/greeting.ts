import type { Duplex } from "node:stream";

/** The line that ends the greeting, the last one before the binary protocol begins. */
const IDENTIFICATION = /(?:^|\n)SSH-[^\n]*\n/;
/** No greeting is longer; whatever it is then, ssh2 may say so. */
const MAX_GREETING_BYTES = 64 * 1024;

/**
 * Lets the first data of a stream through only once the server's identification is there as a whole: ssh2 forgets pieces of
 * one that comes in more than two. Costs nothing afterwards, and nothing is sent later for it.
 */
export function holdGreeting(stream: Duplex): void {
  const emit = stream.emit;
  let held = Buffer.alloc(0);
  stream.emit = (event: string | symbol, ...details: unknown[]): boolean => {
    if (event !== "data") return emit.call(stream, event, ...details);
    held = Buffer.concat([held, details[0] as Buffer]);
    if (held.byteLength < MAX_GREETING_BYTES && !IDENTIFICATION.test(held.toString("latin1"))) return true;
    stream.emit = emit;
    return stream.emit("data", held);
  };
}
