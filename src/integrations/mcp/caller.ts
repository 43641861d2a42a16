import type { AuthInfo, ServerContext } from "@modelcontextprotocol/server";

/** Who sends a request. */
export interface Caller {
  /** The user that a token stands for; "stdio" for the one client of a stdio server. */
  readonly name: string;
  /** Whose user he is: the same name of two tenants is two users. Default: nobody's. */
  readonly tenant?: string;
  /** The targets this caller may use; undefined: all. */
  readonly targets?: readonly string[];
}

const STDIO: Caller = { name: "stdio" };

/** Equal for two callers exactly when they are the same user. */
export function callerId({ name, tenant = "" }: Caller): string {
  return tenant === "" ? name : `${tenant}\0${name}`;
}

/** The caller in the form in which the SDK carries it with a request. The token itself does not travel. */
export function toAuthInfo(caller: Caller): AuthInfo {
  return { token: "", clientId: callerId(caller), scopes: [], extra: { caller } };
}

export function callerOf(context: ServerContext): Caller {
  return (context.http?.authInfo?.extra?.caller as Caller | undefined) ?? STDIO;
}
