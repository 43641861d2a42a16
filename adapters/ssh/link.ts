import type { EventEmitter } from "node:events";
import type { Duplex } from "node:stream";
import type { ClientChannel, SFTPWrapper } from "ssh2";
import { abortError, GloveboxError } from "../../src/contract/errors.js";
import type { GloveboxEvent } from "../../src/contract/events.js";
import type { StartOptions } from "../posix/transport.js";
import type { ServerFacts, SshClient } from "./client.js";
import { connectPatiently } from "./connect-patiently.js";
import { pause, unlessAborted } from "./deadline.js";
import { isChannelRefused, isProgramRefused, toForwardingError, toGloveboxError } from "./errors.js";
import { createMember, type Member, type OnLink, type Room, type StartChannel } from "./member.js";

/** sshd allows 10 sessions on a connection by default and frees a slot only after we saw its end: 8 never fail. */
const CHANNELS_PER_CONNECTION = 8;
/** Kept free on each connection for what is ours and short. */
const RESERVED_CHANNELS = 1;
const MAX_CONNECTIONS = 8;
const WAIT_FOR_CHANNEL_MS = 60_000;
/** A server frees a session's slot a little after it reported its end. */
const REFUSED_PAUSE_MS = 50;
/** How often the opening of one channel may meet with the end of its connection. */
const MAX_LOSSES = 2;
/** How often a host that cannot start a program just now is asked again. */
const MAX_UNSTARTED = 2;
/** A connection beyond the first that nobody uses is ended after this time. */
const IDLE_MS = 30_000;

/** A host, reached over as many connections as its channels need. What rejects has started nothing. */
export interface Link {
  /** Has the login shell run `command`. */
  exec(command: string, options: StartOptions): Promise<OnLink<ClientChannel>>;
  sftp(options: StartOptions): Promise<OnLink<SFTPWrapper>>;
  /** A connection to a Unix socket over there. Rejects `permission_denied` and `not_found` as well. */
  forward(socketPath: string, options: StartOptions): Promise<OnLink<Duplex>>;
  /** Resolves when there is a connection. */
  ready(signal?: AbortSignal): Promise<void>;
  /** What the server said of itself when it was last connected to. */
  readonly server: ServerFacts | undefined;
  /** How many connections there are now, and how many have ended so far that we did not end. */
  readonly connections: number;
  readonly losses: number;
  /** From here on a lost host is asked for once, and not waited for: what is left to do is to let go of it. */
  hurry(): void;
  /** Idempotent. Lets go of everything at once; what runs over there is not told. */
  close(): Promise<void>;
}

export interface LinkOptions {
  readonly host: string;
  readonly label: string;
  connect(signal: AbortSignal): Promise<SshClient>;
  onEvent(event: GloveboxEvent): void;
  /** Called once for each connection, when its first channel is open, with a way to run a command of the link's own on it. */
  onConnection?(exec: (command: string) => Promise<OnLink<ClientChannel>>): void;
}

export function createLink({ host, label, connect, onEvent, onConnection }: LinkOptions): Link {
  const members = new Set<Member>();
  const waiting = new Set<() => void>();
  const greeted = new WeakSet<Member>();
  const idle = new Map<Member, ReturnType<typeof setTimeout>>();
  const closing = new AbortController();
  let connecting: Promise<void> | undefined;
  let ending: Promise<void> | undefined;
  let server: ServerFacts | undefined;
  let lostAtMs: number | undefined;
  let silent = false;
  let hurried = false;
  let losses = 0;
  /** How many channels a connection of this server takes: as many as were ever open at once, until one more was refused. */
  let limit = CHANNELS_PER_CONNECTION;
  let proven = 0;

  const wake = (): void => {
    for (const resume of [...waiting]) resume();
  };

  async function addMember(): Promise<void> {
    const state = server === undefined || hurried ? "new" : silent ? "silent" : "known";
    // Once only: a host that can be reached, but slowly, shall get its time.
    silent = false;
    const session = await connectPatiently(connect, {
      host: state,
      signal: closing.signal,
      ...(lostAtMs !== undefined && { lostAtMs }),
    });
    if (closing.signal.aborted) {
      session.destroy();
      throw gone(host);
    }
    server = session.server;
    const member = createMember(session, host, () => {
      dismissIfIdle(member);
      wake();
    });
    members.add(member);
    void session.closed.then((reason) => {
      clearTimeout(idle.get(member));
      // One that had nothing to do was ended by us.
      if (!members.delete(member) || closing.signal.aborted) return;
      losses += 1;
      wake();
      if (members.size > 0 || lostAtMs !== undefined) return;
      lostAtMs = performance.now();
      silent = reason.details.silent === true;
      onEvent({ type: "target_lost", target: label, message: reason.message });
    });
    if (lostAtMs !== undefined) onEvent({ type: "target_restored", target: label });
    lostAtMs = undefined;
    wake();
  }

  /** One at a time: sshd drops some of many that have not logged in yet (MaxStartups). */
  function another(): Promise<void> {
    connecting ??= addMember().finally(() => {
      connecting = undefined;
    });
    return connecting;
  }

  const isIdle = ({ channels, ownChannels }: Member): boolean => channels === ownChannels;

  function dismissIfIdle(member: Member): void {
    clearTimeout(idle.get(member));
    if (!isIdle(member)) return;
    const timer = setTimeout(() => {
      if (members.size > 1 && isIdle(member) && members.delete(member)) member.session.client.end();
    }, IDLE_MS);
    idle.set(member, timer.unref());
  }

  /** Room for one more channel, taken. */
  async function findRoom({ signal, purpose }: StartOptions, until: number): Promise<Room> {
    const isControl = purpose === "control";
    for (;;) {
      if (closing.signal.aborted) throw gone(host);
      if (signal?.aborted) throw abortError(signal, { retrySafe: true });
      for (const member of members) {
        const room = limit - member.ownChannels - (isControl ? 0 : RESERVED_CHANNELS);
        if (member.channels - member.ownChannels < Math.max(1, room)) return member.take();
      }
      if (members.size < MAX_CONNECTIONS + (isControl ? 1 : 0)) await unlessAborted(another(), signal);
      else if (performance.now() < until) await someRoom(signal, until - performance.now());
      else throw full(host);
    }
  }

  function someRoom(signal: AbortSignal | undefined, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const resume = (): void => {
        clearTimeout(timer);
        waiting.delete(resume);
        signal?.removeEventListener("abort", resume);
        resolve();
      };
      const timer = setTimeout(resume, Math.max(ms, 1));
      waiting.add(resume);
      signal?.addEventListener("abort", resume, { once: true });
    });
  }

  async function open<Channel extends EventEmitter>(
    options: StartOptions,
    start: StartChannel<Channel>,
    forwardedTo?: string,
  ): Promise<OnLink<Channel>> {
    const until = performance.now() + WAIT_FOR_CHANNEL_MS;
    for (let failed = 0, unstarted = 0; ; ) {
      const room = await findRoom(options, until);
      const { member } = room;
      try {
        const opened = await room.open(start, options.signal);
        proven = Math.max(proven, member.channels);
        if (!greeted.has(member)) onConnection?.((command) => member.openOwn(command));
        greeted.add(member);
        return opened;
      } catch (error) {
        // The connection ended under it, and nothing has started: another one will do.
        if (member.session.lost !== undefined && !options.signal?.aborted && failed < MAX_LOSSES) {
          failed += 1;
          continue;
        }
        if (forwardedTo !== undefined) throw toForwardingError(error, host, forwardedTo);
        if (isProgramRefused(error) && unstarted < MAX_UNSTARTED) {
          unstarted += 1;
          await pause(REFUSED_PAUSE_MS * unstarted);
          continue;
        }
        if (!isChannelRefused(error)) throw toGloveboxError(error, host);
        const others = member.channels;
        if (others >= proven && others > 0) limit = others;
        else if (proven === 0 || performance.now() > until) throw refused(host, error);
        else await pause(REFUSED_PAUSE_MS);
      }
    }
  }

  async function close(): Promise<void> {
    closing.abort(gone(host));
    wake();
    await connecting?.catch(() => undefined);
    const sessions = [...members].map((member) => member.session);
    for (const { client } of sessions) client.end();
    await Promise.all(sessions.map((session) => Promise.race([session.closed, pause(1_000)])));
    for (const session of sessions) session.destroy();
  }

  return {
    exec: (command, options) => open<ClientChannel>(options, (client, done) => client.exec(command, done)),
    sftp: (options) => open<SFTPWrapper>(options, (client, done) => client.sftp(done)),
    forward: (path, options) => open<Duplex>(options, (client, done) => client.openssh_forwardOutStreamLocal(path, done), path),
    async ready(signal) {
      if (closing.signal.aborted) throw gone(host);
      if (members.size === 0) await unlessAborted(another(), signal);
    },
    get server() {
      return server;
    },
    get connections() {
      return members.size;
    },
    get losses() {
      return losses;
    },
    hurry() {
      hurried = true;
    },
    close() {
      ending ??= close();
      return ending;
    },
  };
}

function gone(host: string): GloveboxError {
  return new GloveboxError("gone", `The connection to ${host} is closed. Open the target again.`, { retrySafe: true });
}

function full(host: string): GloveboxError {
  const message = `All ${MAX_CONNECTIONS} connections to ${host} are full. Wait for running commands, or run fewer at once.`;
  return new GloveboxError("busy", message, { retrySafe: true });
}

function refused(host: string, cause: unknown): GloveboxError {
  const message = `${host} lets this account in, but opens no channel (${(cause as Error).message}). Check MaxSessions and what the account may do there.`;
  return new GloveboxError("unsupported", message, { cause, retrySafe: true });
}
