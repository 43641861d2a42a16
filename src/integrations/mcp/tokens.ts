import { createHash, timingSafeEqual } from "node:crypto";
import { compileValidator, GloveboxError, Type } from "../../index.js";
import type { Caller } from "./caller.js";

/** A bearer token, kept as its SHA-256, and whose it is. */
export interface AcceptedToken {
  readonly sha256: Buffer;
  readonly caller: Caller;
}

/** Whose token the value of an Authorization header is; undefined: nobody's. Takes the same time for every token. */
export type TokenVerifier = (authorization: string | undefined) => Caller | undefined;

export function createTokenVerifier(accepted: readonly AcceptedToken[]): TokenVerifier {
  return (authorization) => {
    const token = /^Bearer ([\x21-\x7e]+)$/i.exec(authorization ?? "")?.[1];
    const given = sha256(token ?? "");
    let found: Caller | undefined;
    for (const { sha256: known, caller } of accepted) if (timingSafeEqual(known, given)) found = caller;
    return token === undefined ? undefined : found;
  };
}

export function acceptedToken(token: string, caller: Caller): AcceptedToken {
  return { sha256: sha256(token), caller };
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

const tokenFileSchema = Type.Object(
  {
    tokens: Type.Array(
      Type.Object(
        {
          user: Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$", description: "Whose token it is" }),
          sha256: Type.String({ pattern: "^[0-9a-f]{64}$", description: "SHA-256 of the token, in lower-case hexadecimal digits" }),
          tenant: Type.Optional(
            Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$", description: "Whose user it is; nobody's without this" }),
          ),
          targets: Type.Optional(Type.Array(Type.String(), { minItems: 1, description: "The targets it is good for; all without this" })),
        },
        { additionalProperties: false },
      ),
      { minItems: 1 },
    ),
  },
  { additionalProperties: false },
);
const validateTokenFile = compileValidator(tokenFileSchema);

/**
 * The tokens that a token file lists. It holds digests, so that whoever reads it cannot use them. Throws
 * `invalid_argument` for anything that is not exactly such a file, for a digest that is there twice and for unknown targets.
 */
export function parseTokenFile(text: string, targets: readonly string[]): readonly AcceptedToken[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw refuse(`it is not JSON: ${(error as Error).message}`);
  }
  const validation = validateTokenFile(value);
  if (!validation.ok) {
    throw refuse(
      validation.issues.map(({ field, expected, received }) => `${field || "the file"} should be ${expected}, not ${received}`).join("; "),
    );
  }
  const { tokens } = validation.value;
  if (new Set(tokens.map((token) => token.sha256)).size !== tokens.length) throw refuse("a digest is there twice: a token has one user");
  for (const { user, targets: named = [] } of tokens) {
    const unknown = named.find((target) => !targets.includes(target));
    if (unknown !== undefined) {
      const known = targets.length === 0 ? "this server's only target has no name" : `there are ${targets.join(", ")}`;
      throw refuse(`${user} may use the target ${JSON.stringify(unknown)}, and ${known}`);
    }
  }
  return tokens.map(({ user, sha256: digest, tenant, targets: named }) => ({
    sha256: Buffer.from(digest, "hex"),
    caller: { name: user, ...(tenant === undefined ? {} : { tenant }), ...(named === undefined ? {} : { targets: named }) },
  }));
}

function refuse(why: string): GloveboxError {
  return new GloveboxError("invalid_argument", `The token file cannot be used: ${why}.`);
}
