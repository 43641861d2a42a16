import type { GloveboxEvent } from "../../src/contract/events.js";
import type { Transport } from "../posix/transport.js";
import { BOOTSTRAP, execLine } from "./bootstrap.js";
import { channelProcess } from "./channel-process.js";
import { type ClientOptions, connectClient } from "./client.js";
import { createLink, type Link } from "./link.js";
import type { HostSettings } from "./settings.js";
import { createWatch, type Watch } from "./watch.js";
import { widenWindow } from "./window.js";

/** A lane may carry a large file; a command's output is shown as it comes, and many commands may run. */
const LANE_WINDOW_BYTES = 8 * 1024 * 1024;

export interface SshTransport extends Transport {
  readonly link: Link;
  readonly watch: Watch;
}

/** Starts processes on a host, an exec channel each, over as many connections as that takes. Connects on the first one. */
export function sshTransport(
  settings: HostSettings,
  options: ClientOptions,
  label: string,
  onEvent: (event: GloveboxEvent) => void,
): SshTransport {
  const { hostName, port, user, jumps } = settings;
  const watch = createWatch();
  const link = createLink({
    host: hostName,
    label,
    onEvent,
    connect: (signal) => connectClient(settings, options, signal),
    onConnection: watch.start,
  });
  // Behind a jump host the same address can be another machine.
  const way = jumps.length === 0 ? "" : `?via=${jumps.join(",")}`;
  return {
    id: `ssh:${user}@${hostName}:${port}${way}`,
    label,
    link,
    watch,
    async start(argv, startOptions) {
      const line = execLine(argv);
      const { channel, gone } = await link.exec(BOOTSTRAP, startOptions);
      if (startOptions.purpose === "lane") widenWindow(channel, LANE_WINDOW_BYTES);
      const started = channelProcess(channel, hostName, gone);
      started.stdin.write(`${line}\n`);
      return started;
    },
    close: () => link.close(),
  };
}
