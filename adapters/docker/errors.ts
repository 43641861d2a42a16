import { abortError, type ErrorCode, type ErrorFacts, GloveboxError } from "../../src/contract/errors.js";

/** What was being done when the engine, or the way to it, failed. */
export interface EngineFailure {
  /** For people, after "could not": `create the container`. */
  readonly what: string;
  /** The engine's label: `unix:///var/run/docker.sock`. */
  readonly engine: string;
  /** Nothing can have been changed, so that doing it again is harmless. */
  readonly retrySafe?: boolean;
}

/**
 * The one place that knows the engine's HTTP statuses, socket errors and sentences. `details` carries `statusCode` and the
 * engine's own `engineMessage` where it answered at all.
 */
export function toGloveboxError(error: unknown, failure: EngineFailure, signal?: AbortSignal): GloveboxError {
  if (error instanceof GloveboxError) return error;
  if (signal?.aborted) return abortError(signal, { cause: error, retrySafe: failure.retrySafe });
  const { statusCode, code } = error as { statusCode?: unknown; code?: unknown };
  if (typeof statusCode === "number") return fromAnswer(error as EngineAnswer, failure);
  return fromSocket(typeof code === "string" ? code : "", error, failure);
}

/** What dockerode throws for an answer that is not a success. */
interface EngineAnswer extends Error {
  readonly statusCode: number;
  readonly json?: unknown;
}

interface Reading {
  readonly code: ErrorCode;
  readonly advice: string;
}

function fromAnswer(error: EngineAnswer, { what, engine }: EngineFailure): GloveboxError {
  const engineMessage = sentenceOf(error);
  const { code, advice } = readAnswer(error.statusCode, engineMessage);
  // The engine refused, so nothing was done, unless it failed on the way (500).
  const facts: ErrorFacts = { cause: error, retrySafe: error.statusCode < 500, details: { statusCode: error.statusCode, engineMessage } };
  return new GloveboxError(code, `The Docker engine at ${engine} could not ${what}: ${engineMessage}. ${advice}`, facts);
}

function sentenceOf(error: EngineAnswer): string {
  const json = error.json;
  const message =
    typeof json === "object" && json !== null && "message" in json && typeof json.message === "string" ? json.message : error.message;
  return message.trim().replace(/\.$/, "").slice(0, 2000);
}

function readAnswer(status: number, message: string): Reading {
  if (/is paused|paused container/.test(message)) return { code: "busy", advice: "Resume the container (docker unpause), then try again." };
  if (/is not running|is restarting|marked for removal/.test(message)) {
    return { code: "gone", advice: "Start the container, or open another one." };
  }
  if (/no such container/i.test(message)) return { code: "gone", advice: "It was removed: open another one." };
  if (/no such image/i.test(message)) return { code: "not_found", advice: "Pull or build the image first, or name another one." };
  if (/already in use|already exists/.test(message)) return { code: "exists", advice: "Choose another name, or remove what holds it." };
  if (/OCI runtime|failed to create (?:shim )?task/.test(message)) {
    return { code: "not_started", advice: "Correct the option that the message names, or choose another image." };
  }
  if (/no space left/.test(message)) return { code: "no_space", advice: "Free space on the engine's disk." };
  if (status === 400) return { code: "invalid_argument", advice: "Correct the option that the message names." };
  if (status === 401 || status === 403) return { code: "permission_denied", advice: "Ask for access to this engine." };
  if (status === 404) return { code: "not_found", advice: "Check the name." };
  if (status === 409) return { code: "busy", advice: "Something else is changing it: try again in a moment." };
  return { code: "unexpected", advice: "See the engine's log (journalctl -u docker)." };
}

const TRUST = /^(?:CERT_|DEPTH_ZERO|UNABLE_TO_|SELF_SIGNED|ERR_TLS|ERR_SSL|HOSTNAME_MISMATCH|EPROTO)/;

function fromSocket(code: string, error: unknown, { what, engine, retrySafe }: EngineFailure): GloveboxError {
  const reason = error instanceof Error ? error.message : String(error);
  const facts = { cause: error, retrySafe, details: { socketCode: code } };
  if (code === "EACCES" || code === "EPERM") {
    const advice = "Run as a user who may use its socket (the group docker), and know that this is as good as root.";
    return new GloveboxError("permission_denied", `Could not ${what}: no access to the Docker engine at ${engine}. ${advice}`, facts);
  }
  if (TRUST.test(code)) {
    const advice = "Check DOCKER_CERT_PATH, or the ca, cert and key of the option engine.";
    return new GloveboxError("auth_failed", `Could not ${what}: the TLS handshake with ${engine} failed (${reason}). ${advice}`, facts);
  }
  if (code === "" || code.startsWith("HPE_")) {
    const message = `Could not ${what}: what answers at ${engine} is not a Docker engine (${reason}). Check DOCKER_HOST or the option host.`;
    return new GloveboxError("unexpected", message, facts);
  }
  const advice = "Check that it runs (docker version), and DOCKER_HOST or the option host.";
  const neverSent = code === "ECONNREFUSED" || code === "ENOENT" || code === "ENOTFOUND";
  return new GloveboxError("disconnected", `Could not ${what}: no answer from the Docker engine at ${engine} (${reason}). ${advice}`, {
    ...facts,
    retrySafe: neverSent || retrySafe,
  });
}
