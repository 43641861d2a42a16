import { GloveboxError } from "./errors.js";
import type { TargetAddress } from "./target.js";

/** What a target URL looks like, for error messages and help. */
export const TARGET_URL_SHAPES =
  "local:PATH, memory:, docker://CONTAINER/PATH, docker:///PATH?image=IMAGE or ssh://USER@HOST:PORT/PATH, with options as ?name=value&name=value";

/**
 * Takes a target URL apart, knowing no scheme in particular. Throws `invalid_argument`. Percent escapes are decoded in the
 * path and in option values, so that a `?` or `%` in either is written %3F, %25; everything else is taken as it stands.
 */
export function parseTargetUrl(text: string): TargetAddress {
  const [, scheme, , authority = "", path = "", , query = ""] =
    /^([A-Za-z][A-Za-z0-9+.-]*):(\/\/([^/?]*))?([^?]*)(\?(.*))?$/s.exec(text) ??
    refuse(text, "it does not start with a scheme such as local: or ssh:");
  if (/[\s\p{Cc}\p{Surrogate}]/u.test(authority)) refuse(text, "the host part holds blanks or control characters");
  if (/^[^@]*:[^@]*@/.test(authority)) {
    refuse(text, "it holds a password, and URLs end up in logs and process lists. Use a key or an agent");
  }
  return {
    scheme: (scheme ?? "").toLowerCase(),
    authority,
    path: decode(text, path),
    options: parseOptions(text, query),
    text,
  };
}

function parseOptions(text: string, query: string): ReadonlyMap<string, string> {
  const options = new Map<string, string>();
  for (const part of query === "" ? [] : query.split("&")) {
    const equals = part.indexOf("=");
    if (equals <= 0) refuse(text, `the option ${JSON.stringify(part)} is not of the form name=value`);
    const name = decode(text, part.slice(0, equals));
    if (options.has(name)) refuse(text, `the option ${JSON.stringify(name)} is there twice`);
    options.set(name, decode(text, part.slice(equals + 1)));
  }
  return options;
}

function decode(text: string, part: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(part);
  } catch {
    return refuse(text, 'a "%" in it does not begin an escape; write %25 for the character itself');
  }
  if (decoded.includes("\0") || /\p{Surrogate}/u.test(decoded)) return refuse(text, "it holds a character that no target accepts");
  return decoded;
}

function refuse(text: string, why: string): never {
  const shown = text.replace(/:[^@/]*@/, ":…@");
  throw new GloveboxError(
    "invalid_argument",
    `${JSON.stringify(shown)} is not a target URL: ${why}. Target URLs look like ${TARGET_URL_SHAPES}.`,
    {
      retrySafe: true,
    },
  );
}
