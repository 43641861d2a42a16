import { type ErrorCode, GloveboxError } from "../../src/contract/errors.js";

/** What ssh2, its sockets and its channels say of an error. */
interface Symptoms {
  readonly level?: string;
  readonly code?: string | number;
  readonly reason?: string | number;
  readonly message?: string;
}

/**
 * The one place that knows what ssh2 and its sockets say when they fail. Details: `host`; `dropped` when the server hung up
 * before a word, as one does that has too many to greet; `silent` when it did not hang up, but gave no sign of life.
 * `problems` are what else is known of the keys.
 */
export function toGloveboxError(error: unknown, host: string, problems: readonly string[] = []): GloveboxError {
  if (error instanceof GloveboxError) return error;
  const symptoms = (error ?? {}) as Symptoms;
  const { level, code, message = String(error) } = symptoms;
  const make = (errorCode: ErrorCode, text: string, details: Readonly<Record<string, unknown>> = {}): GloveboxError =>
    new GloveboxError(errorCode, text, { cause: error, retrySafe: errorCode !== "auth_failed", details: { host, ...details } });
  if (level === "client-authentication" || /too many authentication failures/i.test(message)) {
    const advice = ["Load the right key into your agent, or name its file with identity=FILE.", ...problems].join(" ");
    return make("auth_failed", `${host} accepted none of the keys offered. ${advice}`);
  }
  if (level === "silence") {
    return make("disconnected", `${host} gave no sign of life any more. Check the network, and try again.`, { silent: true });
  }
  if (code === "ETIMEDOUT" || code === "EHOSTUNREACH") {
    return make("timeout", `${host} did not answer (${message}). Check that it is up and that its SSH port can be reached.`);
  }
  if (/no matching|strict KEX|verification failed/i.test(message)) {
    const text = `${host} and Glovebox cannot agree on how to encrypt (${message}). Bring its SSH server up to date; old algorithms are not offered.`;
    return make("unsupported", text);
  }
  if (isProgramRefused(error)) {
    const text = `${host} lets this account in, but starts no program for it (${message}). Nothing ran. Check that the account has processes to spare and may run commands, then try again.`;
    return make("not_started", text);
  }
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") {
    return make("disconnected", `The host name ${host} cannot be resolved. Check its spelling, or give an address.`);
  }
  const dropped = /before handshake/i.test(message) || (code === "ECONNRESET" && level === "client-socket");
  const text = `There is no SSH connection to ${host}: ${message}. Check that it is up, and try again.`;
  return make("disconnected", text, { ...(dropped && { dropped }), ...(code !== undefined && { code }) });
}

/** The server opens no further channel on this connection, for now or for good. */
export function isChannelRefused(error: unknown): boolean {
  return error instanceof Error && /channel open failure/i.test(error.message);
}

/** The server opened the channel and started nothing on it: it has no process to spare, or none for this account. */
export function isProgramRefused(error: unknown): boolean {
  return error instanceof Error && error.message === "Unable to exec";
}

/** Why the server does not connect us to a Unix socket of its own. */
export function toForwardingError(error: unknown, host: string, path: string): GloveboxError {
  if (!isChannelRefused(error)) return toGloveboxError(error, host);
  const { message, reason } = error as Symptoms;
  // RFC 4254: 1 is "administratively prohibited", 2 is "connect failed".
  const [code, advice] =
    reason === 1
      ? (["permission_denied", "Allow AllowStreamLocalForwarding for this account in its sshd_config."] as const)
      : (["not_found", "Check that something listens there, and that the account may use it (for Docker: the group docker)."] as const);
  return new GloveboxError(code, `${host} does not connect to its socket ${path} (${message}). ${advice}`, {
    cause: error,
    retrySafe: true,
    details: { host, path },
  });
}
