import type { EventEmitter } from "node:events";
import type { Client, ClientChannel } from "ssh2";
import type { GloveboxError } from "../../src/contract/errors.js";
import type { SshClient } from "./client.js";
import { withDeadline } from "./deadline.js";

const OPEN_CHANNEL_MS = 15_000;

/** A channel, and the end of the connection under it: as a promise, and for whoever asks before it settles. */
export interface OnLink<Channel> {
  readonly channel: Channel;
  readonly gone: Promise<GloveboxError>;
  readonly lost: () => GloveboxError | undefined;
}

export type StartChannel<Channel> = (client: Client, done: (error: Error | undefined, channel: Channel) => void) => unknown;

/** One connection of a link, and how many channels it bears. */
export interface Member {
  readonly session: SshClient;
  /** All that are open, opening or closing. */
  readonly channels: number;
  /** Those that are the link's own. They leave when nobody else is there. */
  readonly ownChannels: number;
  /** Room for one channel, counted from now on until that channel, or the connection, has closed. */
  take(): Room;
  openOwn(command: string): Promise<OnLink<ClientChannel>>;
}

export interface Room {
  readonly member: Member;
  /** Rejects with ssh2's own error, or `timeout`, or what the signal says; what opens after that is closed again. */
  open<Channel extends EventEmitter>(start: StartChannel<Channel>, signal?: AbortSignal): Promise<OnLink<Channel>>;
}

/** `onFree` is called whenever a channel has left. */
export function createMember(session: SshClient, host: string, onFree: () => void): Member {
  const { client, closed } = session;
  let channels = 0;
  let ownChannels = 0;

  async function open<Channel extends EventEmitter>(
    start: StartChannel<Channel>,
    signal: AbortSignal | undefined,
    leave: () => void,
  ): Promise<OnLink<Channel>> {
    let held = true;
    const free = (): void => {
      if (!held) return;
      held = false;
      leave();
      onFree();
    };
    void closed.then(free);
    const opened = (channel: Channel): void => void channel.once("close", free);
    let answered = false;
    try {
      const channel = await withDeadline<Channel>(
        { what: `${host} did not open a channel`, ms: OPEN_CHANNEL_MS, signal },
        (resolve, reject) => {
          start(client, (error, each) => {
            answered = true;
            if (error) reject(error);
            else resolve(each);
          });
          void closed.then(reject);
        },
        // Nobody waits for it any more; it has not been told what to do, and does nothing.
        (late) => {
          opened(late);
          letGo(late);
        },
      );
      opened(channel);
      return { channel, gone: closed, lost: () => session.lost };
    } catch (error) {
      // A server that has not answered may still open it.
      if (answered) free();
      throw error;
    }
  }

  const member: Member = {
    session,
    get channels() {
      return channels;
    },
    get ownChannels() {
      return ownChannels;
    },
    take() {
      channels += 1;
      const leave = (): void => {
        channels -= 1;
      };
      return { member, open: (start, signal) => open(start, signal, leave) };
    },
    openOwn(command) {
      channels += 1;
      ownChannels += 1;
      const leave = (): void => {
        channels -= 1;
        ownChannels -= 1;
      };
      return open<ClientChannel>((each, done) => each.exec(command, done), undefined, leave);
    },
  };
  return member;
}

function letGo(channel: EventEmitter): void {
  const { close, end, resume } = channel as Partial<Pick<ClientChannel, "close" | "resume">> & { end?: () => void };
  channel.on("error", () => undefined);
  if (close === undefined) end?.call(channel);
  else close.call(channel);
  resume?.call(channel);
}
