import { Writable } from "node:stream";
import type { ClientChannel } from "ssh2";
import { GloveboxError } from "../../src/contract/errors.js";
import type { ProcessOutcome, RemoteProcess } from "../posix/transport.js";

/** What is written ahead of the channel's own window. */
const AHEAD_BYTES = 1024 * 1024;

/**
 * An exec channel as a process: its outcome is the exit status that the server sent, and nothing else. `gone` settles when
 * the connection under it has ended.
 */
export function channelProcess(channel: ClientChannel, host: string, gone: Promise<GloveboxError>): RemoteProcess {
  const outcome = new Promise<ProcessOutcome>((resolve) => {
    const lose = (reason?: GloveboxError): void => resolve({ kind: "lost", error: lost(host, reason) });
    channel.once("exit", (exitCode: number | null, signal?: string) => {
      if (typeof exitCode === "number") resolve({ kind: "exited", exitCode });
      else if (signal) resolve({ kind: "signalled", signal: signal.startsWith("SIG") ? signal : `SIG${signal}` });
      else lose();
    });
    // `close` waits for a reader, which need not be there.
    channel.once("close", () => lose());
    void gone.then(lose);
  });
  // The channel forgets the callback of a write that comes after its end; ours is destroyed then.
  const stdin = new Writable({
    highWaterMark: AHEAD_BYTES,
    write: (chunk: Buffer, _encoding, callback) => void channel.write(chunk, callback),
    final(callback) {
      channel.end();
      callback();
    },
  });
  const { stderr } = channel;
  for (const stream of [channel, stderr, stdin]) stream.on("error", () => undefined);
  const release = (): void => void stdin.destroy();
  channel.once("close", release);
  void gone.then(release);
  return {
    stdin,
    stdout: channel,
    stderr,
    outcome,
    destroy() {
      stdin.destroy();
      channel.close();
      // What still comes has to be taken, or the channel never closes.
      channel.resume();
      stderr.resume();
    },
  };
}

function lost(host: string, reason: GloveboxError | undefined): GloveboxError {
  const why = reason === undefined ? `The channel to ${host} was closed` : reason.message;
  return new GloveboxError("disconnected", `${why} (No exit status has come.)`, { cause: reason, details: { host } });
}
