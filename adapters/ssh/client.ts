import { connect as connectSocket } from "node:net";
import type { Duplex } from "node:stream";
import type { AnyAuthMethod, Client, ConnectConfig, NegotiatedAlgorithms } from "ssh2";
import { GloveboxError } from "../../src/contract/errors.js";
import { authentication, type Credentials } from "./authentication.js";
import { withDeadline } from "./deadline.js";
import { toGloveboxError } from "./errors.js";
import { holdGreeting } from "./greeting.js";
import { watchForSilence } from "./heartbeat.js";
import { hostTrust, type TrustOptions } from "./host-key.js";
import { fingerprintOf } from "./known-hosts.js";
import { type HostSettings, parseHost, resolveSettings } from "./settings.js";

export interface ClientOptions extends Credentials, TrustOptions {
  readonly configFile?: string;
}

/** What the server said about itself. */
export interface ServerFacts {
  readonly software: string;
  readonly hostKeyFingerprint: string;
  readonly algorithms: Readonly<Record<"kex" | "hostKey" | "cipher" | "mac", string>>;
}

/** An authenticated connection. It keeps an error listener for good, so that its end never ends our process. */
export interface SshClient {
  readonly client: Client;
  readonly server: ServerFacts;
  /** Settles, and never rejects, when the connection is gone; with what ended it. */
  readonly closed: Promise<GloveboxError>;
  /** The same, told at once: before the channels are told that nothing more will come. */
  readonly lost: GloveboxError | undefined;
  /** Ends it at once; `closed` settles. */
  destroy(): void;
}

/** AES-GCM is outside the Terrapin attack; CTR is there for servers without it (dropbear). No ChaCha, no CBC, no SHA-1. */
const ALGORITHMS = {
  kex: ["curve25519-sha256", "curve25519-sha256@libssh.org", "ecdh-sha2-nistp256", "ecdh-sha2-nistp384", "ecdh-sha2-nistp521"],
  cipher: ["aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "aes256-ctr", "aes128-ctr"],
  hmac: ["hmac-sha2-256-etm@openssh.com", "hmac-sha2-512-etm@openssh.com", "hmac-sha2-256", "hmac-sha2-512"],
};

/** Hops of a ProxyJump, jumps of jumps included. */
const MAX_HOPS = 8;
/** What authenticating may take beyond the connecting where there is an agent: it may ask a person to touch a key. */
const AGENT_MS = 20_000;

/** Connects and authenticates, through the jump hosts that the settings name. Nothing is forwarded. One try. */
export async function connectClient(settings: HostSettings, options: ClientOptions, signal?: AbortSignal, hops = 0): Promise<SshClient> {
  if (hops > MAX_HOPS) {
    const message = `ProxyJump goes through more than ${MAX_HOPS} hosts. Look for a loop in the ssh configuration.`;
    throw new GloveboxError("invalid_argument", message);
  }
  const via = await connectJump(settings, options, signal, hops);
  try {
    const stream = await (via === undefined ? openSocket(settings, signal) : openThrough(via, settings, signal));
    const session = await handshake(settings, options, stream, signal, via);
    void session.closed.then(() => via?.destroy());
    return session;
  } catch (error) {
    via?.destroy();
    throw error;
  }
}

/** As ssh does it: the last jump host is reached through those before it; the first one as its own configuration says. */
async function connectJump(
  { jumps }: HostSettings,
  { configFile, passphrase }: ClientOptions,
  signal: AbortSignal | undefined,
  hops: number,
): Promise<SshClient | undefined> {
  const last = jumps.at(-1);
  if (last === undefined) return undefined;
  const jump = await resolveSettings({ ...parseHost(last), ...(configFile && { configFile }) });
  const through = jumps.length > 1 ? { ...jump, jumps: jumps.slice(0, -1) } : jump;
  // The pin, the identity and the consent to new keys are for the target; a jump host is known by known_hosts and the configuration.
  return await connectClient(through, { ...(configFile && { configFile }), ...(passphrase && { passphrase }) }, signal, hops + 1);
}

async function openThrough(via: SshClient, { hostName, port, connectTimeoutMs: ms }: HostSettings, signal?: AbortSignal): Promise<Duplex> {
  const what = `The jump host did not open a way to ${hostName}`;
  const stream = await withDeadline<Duplex>({ what, ms, signal }, (resolve, reject) => {
    via.client.forwardOut("127.0.0.1", 0, hostName, port, (error, channel) =>
      error ? reject(toGloveboxError(error, hostName)) : resolve(channel),
    );
  });
  stream.on("error", () => undefined);
  return stream;
}

async function openSocket({ hostName, port, connectTimeoutMs: ms }: HostSettings, signal?: AbortSignal): Promise<Duplex> {
  const socket = connectSocket({ host: hostName, port, noDelay: true, keepAlive: true });
  // For good: an error without a listener would end this process.
  socket.on("error", () => undefined);
  try {
    await withDeadline<void>({ what: `${hostName} did not answer on port ${port}`, ms, signal }, (resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", (error) => reject(toGloveboxError(error, hostName)));
    });
  } catch (error) {
    socket.destroy();
    throw error;
  }
  return socket;
}

async function handshake(
  settings: HostSettings,
  options: ClientOptions,
  sock: Duplex,
  signal: AbortSignal | undefined,
  via: SshClient | undefined,
): Promise<SshClient> {
  const { hostName, user, connectTimeoutMs, keepaliveMs, silentIntervals } = settings;
  const setUp = Promise.all([import("ssh2"), hostTrust(settings, options), authentication(settings, options)]);
  const [{ default: ssh2 }, trust, { methods, problems }] = await setUp.catch((error) => {
    sock.destroy();
    throw error;
  });
  const client = new ssh2.Client();
  let refusal: unknown;
  let ended: unknown;
  let lost: GloveboxError | undefined;
  let fingerprint = "";
  let negotiated: NegotiatedAlgorithms | undefined;
  const closed = new Promise<GloveboxError>((resolve) => {
    client.once("close", () => {
      lost = toGloveboxError(refusal ?? ended ?? new Error("the connection was closed"), hostName, problems);
      resolve(lost);
    });
  });
  const destroy = (): void => {
    client.destroy();
    sock.destroy();
    // A channel of a carrier that is dead itself would never end.
    via?.destroy();
  };
  client.on("error", (error) => {
    // An agent that fails is passed over by ssh2. After anything else it waits for the server to hang up, which need not come.
    if ((error as { readonly level?: string }).level === "agent") return;
    ended ??= error;
    destroy();
  });
  client.once("handshake", (algorithms) => {
    negotiated = algorithms;
  });
  const remaining = [...methods];
  const config: ConnectConfig = {
    sock: sock as NonNullable<ConnectConfig["sock"]>,
    username: user,
    readyTimeout: 0,
    // Asks only; who does not answer is noticed below, where any byte counts as an answer.
    keepaliveInterval: keepaliveMs,
    keepaliveCountMax: Number.MAX_SAFE_INTEGER,
    algorithms: { ...ALGORITHMS, serverHostKey: trust.algorithms } as NonNullable<ConnectConfig["algorithms"]>,
    // ssh2 takes any answer but the literal false for consent, a promise included: so the answer is given by callback, and is a boolean.
    hostVerifier: (key: Buffer, answer: (accepted: boolean) => void): void => {
      fingerprint = fingerprintOf(key);
      trust.check(key).then(
        () => answer(true),
        (error: unknown) => {
          refusal = error;
          answer(false);
          destroy();
        },
      );
    },
    authHandler: (_left, _partial, next) => next((remaining.shift() ?? false) as AnyAuthMethod),
  };
  try {
    const patienceMs = methods.some((method) => method.type === "agent") ? AGENT_MS : 0;
    const deadline = { what: `${hostName} did not finish the SSH handshake`, ms: connectTimeoutMs + patienceMs, signal };
    await withDeadline<void>(deadline, (resolve, reject) => {
      client.once("ready", resolve);
      void closed.then(reject);
      holdGreeting(sock);
      client.connect(config);
    });
  } catch (error) {
    destroy();
    throw toGloveboxError(error, hostName, problems);
  }
  client.setNoDelay(true);
  const heartbeat = watchForSilence(sock, keepaliveMs, silentIntervals, () => {
    ended ??= Object.assign(new Error("no sign of life"), { level: "silence" });
    destroy();
  });
  void closed.then(heartbeat.stop);
  return {
    client,
    closed,
    destroy,
    server: serverFacts(client, fingerprint, negotiated),
    get lost() {
      return lost;
    },
  };
}

function serverFacts(client: Client, hostKeyFingerprint: string, negotiated: NegotiatedAlgorithms | undefined): ServerFacts {
  // Not in the types: the version that the server announced.
  const { _remoteVer: software = "unknown" } = client as unknown as { readonly _remoteVer?: string };
  const { kex = "", serverHostKey: hostKey = "", cs } = negotiated ?? {};
  return { software, hostKeyFingerprint, algorithms: { kex, hostKey, cipher: cs?.cipher ?? "", mac: cs?.mac ?? "" } };
}
