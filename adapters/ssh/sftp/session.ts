import { unlessAborted } from "../deadline.js";
import type { Link } from "../link.js";
import { type SftpChannel, sftpChannel } from "./channel.js";

/** The way to an SFTP channel that works: a dead one is replaced by the next call. */
export interface SftpSession {
  /** Handles are the channel's: a call keeps to the one it got. */
  channel(signal?: AbortSignal): Promise<SftpChannel>;
  end(): void;
}

export function sftpSession(link: Link, host: string): SftpSession {
  let current: SftpChannel | undefined;
  let opening: Promise<SftpChannel> | undefined;
  async function open(): Promise<SftpChannel> {
    current = sftpChannel(await link.sftp({ purpose: "lane" }), host);
    return current;
  }
  return {
    async channel(signal) {
      if (current?.alive) return current;
      opening ??= open().finally(() => {
        opening = undefined;
      });
      return await unlessAborted(opening, signal);
    },
    end: () => current?.end(),
  };
}
