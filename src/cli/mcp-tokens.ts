import { randomBytes } from "node:crypto";
import { type AcceptedToken, acceptedToken, parseTokenFile } from "../integrations/mcp/index.js";
import { readGuarded } from "./mcp-files.js";
import { UsageError } from "./output.js";

export interface Tokens {
  readonly tokens: readonly AcceptedToken[];
  /** Made for this run: nobody knows it yet. */
  readonly generated?: string;
}

/** From the file, or the environment, or made up now. `targets` are the names that a file may speak of. */
export function tokensOf(file: string | undefined, given: string | undefined, targets: readonly string[]): Tokens {
  if (file !== undefined && given !== undefined) {
    throw new UsageError("there is a --token-file and GLOVEBOX_TOKEN is set: leave one out, so that it is plain who may call");
  }
  if (file !== undefined) return { tokens: parseTokenFile(readGuarded(file, "token"), targets) };
  if (given !== undefined) checkStrength("GLOVEBOX_TOKEN", given);
  const generated = given === undefined ? randomBytes(32).toString("base64url") : undefined;
  return { tokens: [acceptedToken(given ?? generated ?? "", { name: "token" })], ...(generated && { generated }) };
}

/** The token of the environment, which nothing started from here inherits then. */
export function takeToken(): string | undefined {
  return take("GLOVEBOX_TOKEN");
}

/** Who reads the page of metrics, the same way. Without it there is no page. */
export function takeMetricsToken(): string | undefined {
  const token = take("GLOVEBOX_METRICS_TOKEN");
  if (token !== undefined) checkStrength("GLOVEBOX_METRICS_TOKEN", token);
  return token;
}

function take(name: string): string | undefined {
  const token = process.env[name];
  delete process.env[name];
  return token === "" ? undefined : token;
}

function checkStrength(name: string, token: string): void {
  if (/^[\x21-\x7e]{16,512}$/.test(token)) return;
  throw new UsageError(`${name} must be 16 to 512 printable ASCII characters without blanks; openssl rand -hex 32 makes a good one`);
}
