import { GloveboxError } from "../contract/errors.js";
import { hasLoneSurrogate } from "../text/utf8.js";

/** Refuses a path that can name nothing: `invalid_argument`. An empty one never means the working directory. */
export function checkPath(path: string): void {
  if (path === "") throw refusal("The path is empty. Name a file or directory; the working directory is “.”.");
  if (path.includes("\0")) throw refusal("The path holds a NUL character, which no path can. Send it without.");
  checkText(path, "path");
}

/** Refuses a text that no UTF-8 can hold, since what was written would not be what was sent: `invalid_argument`. */
export function checkText(text: string, field: string): void {
  if (!hasLoneSurrogate(text)) return;
  const at = text.search(/\p{Surrogate}/u);
  throw refusal(`${field} holds half of a surrogate pair at character ${at + 1}, which is no text. Send whole characters.`);
}

function refusal(message: string): GloveboxError {
  return new GloveboxError("invalid_argument", message, { retrySafe: true });
}
