import { Agent as HttpAgent, type RequestOptions as HttpOptions, type OutgoingHttpHeaders } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type Docker from "dockerode";
import type { DockerOptions } from "dockerode";
import { GloveboxError } from "../../src/contract/errors.js";
import { type EngineAddress, type EngineOptions, engineAddress } from "./engine-address.js";
import { toGloveboxError } from "./errors.js";

export interface EngineCall {
  /** For people, after "could not": `create the container`. */
  readonly what: string;
  /** The call settles by then, whatever the engine does. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal;
  /** It changes nothing: safe to retry, and retried once when a kept connection turns out to be cut. */
  readonly readOnly?: boolean;
}

/** A Docker engine. Connects on the first call; dockerode is not loaded before that. */
export interface Engine {
  readonly label: string;
  /** It runs on this machine: paths of its host are ours. */
  readonly local: boolean;
  /** The path of its socket, where it has one. */
  readonly socketPath: string | undefined;
  /** Rejects with a GloveboxError only: see errors.ts, `timeout` past the deadline, what `signal` says when it fires. */
  call<Result>(call: EngineCall, run: (docker: Docker, abortSignal: AbortSignal) => Promise<Result>): Promise<Result>;
  /** Closes the connections it made. Calls still open are cut. */
  close(): void;
}

/** Deadlines of the engine's calls: generous, so that only a call that hangs meets one. */
export const DEADLINE_MS = {
  create: 30_000,
  start: 30_000,
  execCreate: 10_000,
  execStart: 10_000,
  inspect: 5_000,
  list: 20_000,
  change: 20_000,
} as const;

/** Throws `invalid_argument` or `auth_failed` for options that name no engine. Does not connect yet. */
export function connectEngine(options: EngineOptions = {}): Engine {
  const address = engineAddress(options);
  const agent = address.agent ?? newAgent(address);
  const processAgent = keepingNone(agent);
  let loading: Promise<Docker> | undefined;
  const load = async (): Promise<Docker> => {
    const { default: Dockerode } = await import("dockerode");
    // The types do not know `agent`; docker-modem does.
    const docker = new Dockerode({ ...address.modem, agent } as DockerOptions);
    adjustRequests(docker.modem as unknown as Requests, processAgent);
    return docker;
  };
  const once: Engine["call"] = async (call, run) => {
    loading ??= load();
    const docker = await loading;
    return await withDeadline(call, address.label, (abortSignal) => run(docker, abortSignal));
  };
  return {
    label: address.label,
    local: address.local,
    socketPath: address.modem.socketPath,
    async call(call, run) {
      try {
        return await once(call, run);
      } catch (error) {
        const cut = error instanceof GloveboxError && error.code === "disconnected" && error.details.socketCode === "ECONNRESET";
        if (!cut || call.readOnly !== true) throw error;
        return await once(call, run);
      }
    },
    close() {
      if (address.agent === undefined) agent.destroy();
      processAgent.destroy();
    },
  };
}

type RequestOptions = Pick<HttpOptions, "agent"> & { readonly headers: OutgoingHttpHeaders; readonly maxRedirects?: number };

/** The part of docker-modem through which all requests go. */
interface Requests {
  buildRequest(options: RequestOptions, ...rest: never[]): void;
}

/**
 * An engine never redirects; docker-modem would follow, to a host that whoever answers names, and an error there has no
 * listener and ends the process. And a connection that becomes a process's is lost to other requests: taken from those kept
 * alive, it leaves the next one (how a command ended) to open its own, which takes the engine 3 ms while it is busy.
 */
function adjustRequests(modem: Requests, processAgent: HttpAgent): void {
  const buildRequest = modem.buildRequest.bind(modem);
  modem.buildRequest = (options, ...rest) =>
    buildRequest({ ...options, maxRedirects: 0, agent: options.headers.Upgrade === undefined ? options.agent : processAgent }, ...rest);
}

/** Opens its connections as the other does, and keeps none. */
function keepingNone(agent: HttpAgent): HttpAgent {
  const { createConnection, protocol } = agent as HttpAgent & { createConnection(...parameters: unknown[]): unknown; protocol?: string };
  return Object.assign(new HttpAgent(), { createConnection: createConnection.bind(agent), protocol });
}

function newAgent({ modem }: EngineAddress): HttpAgent {
  return modem.protocol === "https"
    ? new HttpsAgent({ keepAlive: true, maxFreeSockets: 8 })
    : new HttpAgent({ keepAlive: true, maxFreeSockets: 8 });
}

async function withDeadline<Result>(call: EngineCall, label: string, run: (abortSignal: AbortSignal) => Promise<Result>): Promise<Result> {
  const { what, deadlineMs, signal, readOnly } = call;
  const failure = { what, engine: label, retrySafe: readOnly };
  if (signal?.aborted) throw toGloveboxError(undefined, { ...failure, retrySafe: true }, signal);
  const controller = new AbortController();
  let late: GloveboxError | undefined;
  let timer: NodeJS.Timeout | undefined;
  let onAbort = (): void => undefined;
  // Cutting the request does not always settle dockerode's promise (an answer half read): these do.
  const cut = new Promise<never>((_, reject) => {
    const stop = (error: unknown): void => {
      controller.abort();
      reject(error);
    };
    timer = setTimeout(() => {
      const advice = "The engine may be overloaded or stopped: check it with docker version.";
      const message = `The Docker engine at ${label} did not ${what} within ${deadlineMs / 1000} s. ${advice}`;
      late = new GloveboxError("timeout", message, { retrySafe: readOnly, details: { deadlineMs } });
      stop(late);
    }, deadlineMs);
    onAbort = () => stop(undefined);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
  try {
    const running = run(controller.signal);
    running.catch(() => undefined);
    return await Promise.race([running, cut]);
  } catch (error) {
    throw late ?? toGloveboxError(error, failure, signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}
