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
  if (given !== undefined && !/^[\x21-\x7e]{16,512}$/.test(given)) {
    throw new UsageError(
      "GLOVEBOX_TOKEN must be 16 to 512 printable ASCII characters without blanks; openssl rand -hex 32 makes a good one",
    );
  }
  const generated = given === undefined ? randomBytes(32).toString("base64url") : undefined;
  return { tokens: [acceptedToken(given ?? generated ?? "", { name: "token" })], ...(generated && { generated }) };
}

/** The token of the environment, which nothing started from here inherits then. */
export function takeToken(): string | undefined {
  const { GLOVEBOX_TOKEN: token } = process.env;
  delete process.env.GLOVEBOX_TOKEN;
  return token === "" ? undefined : token;
}
