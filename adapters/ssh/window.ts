import type { Readable } from "node:stream";

/** What ssh2 keeps of a channel; none of it is in its types. */
interface Internals {
  readonly incoming: { window: number };
  readonly outgoing: { readonly id: number; readonly state: string };
  readonly _client: { readonly _protocol: { channelWindowAdjust(id: number, bytes: number): void } };
}

/**
 * Lets the server send up to `bytes` ahead of what was read from this channel. ssh2 allows 2 MiB, asks for more when half
 * of that is used up, and has no option for it: on a long link that is little more than a mebibyte for each round trip.
 * What is not read is held here, so that this is also what a channel can cost in memory.
 */
export function widenWindow(channel: Readable, bytes: number): void {
  const { incoming, outgoing, _client: client } = channel as unknown as Partial<Internals>;
  if (incoming === undefined || outgoing === undefined || client === undefined) return;
  const widen = (): void => {
    const missing = bytes - incoming.window;
    if (missing < bytes / 4 || outgoing.state === "closed") return;
    incoming.window += missing;
    client._protocol.channelWindowAdjust(outgoing.id, missing);
  };
  const push = channel.push.bind(channel);
  channel.push = (chunk: unknown, encoding?: BufferEncoding): boolean => {
    const isRead = push(chunk, encoding);
    if (isRead && chunk !== null) widen();
    return isRead;
  };
  widen();
}
