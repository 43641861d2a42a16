/** Every code a Glovebox error can carry. Codes are API: they are added to, never renamed; sentences may change. */
export const ERROR_CODES = [
  "not_found",
  "exists",
  "is_directory",
  "not_directory",
  "not_regular",
  "hard_link",
  "loop",
  "permission_denied",
  "outside_root",
  "too_large",
  "no_space",
  "invalid_argument",
  "conflict",
  "aborted",
  "timeout",
  "unsupported",
  "not_started",
  "unknown_outcome",
  "disconnected",
  "auth_failed",
  "host_key",
  "out_of_memory",
  "busy",
  "gone",
  "unexpected",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

export interface ErrorFacts {
  /** Whether doing the same thing again cannot do harm: nothing was changed, or nothing can be. Default false. */
  readonly retrySafe?: boolean;
  /** The target's label, for people: `local:/srv/app`, `docker://web/workspace`. */
  readonly target?: string;
  readonly verb?: string;
  readonly path?: string;
  /** Facts as data, JSON-safe: `{ expectedSha256, actualSha256 }`, `{ option: "hardLinks" }`. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/**
 * The one error class. `message` says what failed, why, and what to do next, in words a model can act on.
 * Every rejection of a verb is one of these (the normalize layer sees to it).
 */
export class GloveboxError extends Error {
  override readonly name = "GloveboxError";
  readonly code: ErrorCode;
  readonly retrySafe: boolean;
  readonly target: string | undefined;
  readonly verb: string | undefined;
  readonly path: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, facts: ErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = code;
    this.retrySafe = facts.retrySafe ?? false;
    this.target = facts.target;
    this.verb = facts.verb;
    this.path = facts.path;
    this.details = facts.details ?? {};
  }

  /** The same error with the facts that the thrower did not know filled in. Facts already there win. */
  with(facts: ErrorFacts): GloveboxError {
    const error = new GloveboxError(this.code, this.message, {
      retrySafe: this.retrySafe,
      target: this.target ?? facts.target,
      verb: this.verb ?? facts.verb,
      path: this.path ?? facts.path,
      details: { ...facts.details, ...this.details },
      cause: this.cause ?? facts.cause,
    });
    error.stack = this.stack;
    return error;
  }

  toJSON(): Record<string, unknown> {
    const { code, message, retrySafe, target, verb, path, details } = this;
    return { code, message, retrySafe, target, verb, path, details };
  }
}

/**
 * The error an aborted signal stands for: `timeout` when its reason is a GloveboxError of that code or a DOMException
 * named TimeoutError, else `aborted`.
 */
export function abortError(signal: AbortSignal, facts: ErrorFacts = {}): GloveboxError {
  const reason: unknown = signal.reason;
  if (reason instanceof GloveboxError) return reason.with(facts);
  if (reason instanceof DOMException && reason.name === "TimeoutError") {
    return new GloveboxError("timeout", "The time allowed for this call ran out.", { ...facts, cause: reason });
  }
  return new GloveboxError("aborted", "The call was aborted.", { ...facts, cause: reason });
}
