/** The largest message that is taken, over stdio and HTTP alike. `write` takes larger files, in several calls through bash. */
export const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;

/** Calls of one caller that wait or run at the same time. */
export const MAX_CALLS_PER_CALLER = 128;

/** What those who are being answered get when a server ends. */
export const CLOSING_GRACE_MS = 2_000;

/** What is done about a message that is too large: for whoever sent it. */
export function tooLargeText(maxBytes: number): string {
  const mebibytes = Math.round((maxBytes / 1024 / 1024) * 100) / 100;
  return `The message is larger than the ${mebibytes} MiB that this server takes. Send the content in smaller parts.`;
}
