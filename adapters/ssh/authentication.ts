import { existsSync } from "node:fs";
import type { AnyAuthMethod, BaseAgent, ParsedKey } from "ssh2";
import { GloveboxError } from "../../src/contract/errors.js";
import { withDeadline } from "./deadline.js";
import { loadPrivateKey, type PassphraseOf, readPublicKey } from "./keys.js";
import type { HostSettings } from "./settings.js";

export interface Credentials {
  /** A private key file: this one and nothing else is offered, from an agent where that has it. */
  readonly identityFile?: string;
  /** Default: the variable GLOVEBOX_SSH_PASSPHRASE. */
  readonly passphrase?: PassphraseOf;
}

/** What to try, in order, and what could not be used and why, for the error in case none of it is accepted. */
export interface Authentication {
  readonly methods: readonly AnyAuthMethod[];
  readonly problems: readonly string[];
}

const AGENT_MS = 5_000;

/**
 * The keys to offer: those of the agent that the key files name, its other ones, then what is only in files. Rejects
 * `auth_failed` when there is none. Servers allow few tries, so that nothing is offered twice.
 */
export async function authentication(settings: HostSettings, { identityFile, passphrase }: Credentials): Promise<Authentication> {
  const username = settings.user;
  const passphraseOf: PassphraseOf = async (file) => (await passphrase?.(file)) ?? process.env.GLOVEBOX_SSH_PASSPHRASE;
  const files = identityFile === undefined ? settings.identityFiles.filter((file) => existsSync(file)) : [identityFile];
  const problems: string[] = [];
  const keys: ParsedKey[] = [];
  const named: Buffer[] = [];
  for (const file of files) {
    const known = await readPublicKey(file);
    if (known !== undefined) named.push(known);
    try {
      const key = await loadPrivateKey(file, passphraseOf);
      keys.push(key);
      named.push(key.getPublicSSH());
    } catch (error) {
      if (!(error instanceof GloveboxError)) throw error;
      problems.push(error.message);
    }
  }
  const only = identityFile !== undefined || settings.identitiesOnly;
  const offered = (await agentKeys(settings, problems)).map((key) => ({ key, blob: key.getPublicSSH() }));
  const isNamed = ({ blob }: { readonly blob: Buffer }): boolean => named.some((each) => each.equals(blob));
  const fromAgent = [...offered.filter(isNamed), ...(only ? [] : offered.filter((each) => !isNamed(each)))];
  const fromFiles = keys.filter((key) => !fromAgent.some(({ blob }) => blob.equals(key.getPublicSSH())));
  const methods: AnyAuthMethod[] = fromFiles.map((key) => ({ type: "publickey", username, key }));
  if (fromAgent.length > 0) {
    const agent = await limitedAgent(
      settings.agentSocket ?? "",
      fromAgent.map(({ key }) => key),
    );
    methods.unshift({ type: "agent", username, agent });
  }
  if (methods.length > 0) return { methods, problems };
  const advice =
    identityFile === undefined
      ? ["There is no key to log in with: no agent that has one, and no usable key file.", ...problems, "Name a key with identity=FILE."]
      : problems;
  throw new GloveboxError("auth_failed", advice.join(" "), { retrySafe: true, details: { files } });
}

async function agentKeys({ agentSocket }: HostSettings, problems: string[]): Promise<readonly ParsedKey[]> {
  if (agentSocket === undefined) return [];
  const { createAgent } = (await import("ssh2")).default;
  try {
    return await withDeadline<readonly ParsedKey[]>(
      { what: `The agent at ${agentSocket} did not answer`, ms: AGENT_MS },
      (resolve, reject) =>
        createAgent(agentSocket).getIdentities((error, found) => {
          if (error) reject(error);
          // Those of kinds that ssh2 does not know are of no use.
          else resolve((found ?? []).filter((key): key is ParsedKey => typeof key === "object" && "getPublicSSH" in key));
        }),
    );
  } catch (error) {
    problems.push(`The agent at ${agentSocket} cannot be used: ${(error as Error).message}.`);
    return [];
  }
}

/** The agent behind a socket, with these keys only. ssh2 takes nothing that is not a `BaseAgent`. */
async function limitedAgent(socket: string, keys: readonly ParsedKey[]): Promise<BaseAgent> {
  const { BaseAgent: Base, createAgent } = (await import("ssh2")).default;
  const agent = createAgent(socket);
  const limited: Pick<BaseAgent, "getIdentities" | "sign"> = {
    getIdentities: (answer) => answer(undefined, [...keys]),
    sign: agent.sign.bind(agent),
  };
  return Object.assign(Object.create(Base.prototype) as BaseAgent, limited);
}
