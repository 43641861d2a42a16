import { GloveboxError } from "../../index.js";

export interface FleetErrorOptions {
  readonly deadlineMs: number;
  /** Is told of the fleet's own error, which speaks of engines, caps and other users. */
  readonly onError: (error: GloveboxError) => unknown;
}

/** Why a user has no sandbox now, as far as it is his concern. The code is the fleet's; nothing was done, so all are safe to retry. */
export function fleetError(error: unknown, { deadlineMs, onError }: FleetErrorOptions): GloveboxError {
  const known = error instanceof GloveboxError ? error : new GloveboxError("unexpected", String(error), { cause: error });
  onError(known);
  return new GloveboxError(known.code, `The call did not run: ${reason(known.code, deadlineMs)}`, { retrySafe: true, cause: known });
}

function reason(code: string, deadlineMs: number): string {
  switch (code) {
    case "busy":
      return "there is no room for your sandbox now. Wait a minute, then call again.";
    case "timeout":
      return `your sandbox was not ready within ${deadlineMs / 1000} seconds. Call again: it may be by then.`;
    case "gone":
      return "the server is giving its sandboxes up. Call again in a minute.";
    case "disconnected":
      return "the machine that has your sandbox does not answer. Your files stay there: call again in some minutes.";
    case "aborted":
      return "it was cancelled while its sandbox was being made ready.";
    default:
      return `your sandbox could not be made ready (${code}). Try once more; if that does not help, tell the user that whoever runs this server has to see to it, and that its log says why.`;
  }
}
