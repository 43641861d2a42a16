import type { ErrorCode, GloveboxError } from "../contract/errors.js";
import type { FileWritten } from "../contract/operations.js";
import type { Environment } from "../contract/target.js";
import type { ContractHost } from "./contract-host.js";

/**
 * What a case takes for granted. Most are the capabilities of the same name; `noExec`: `exec` does not work; `bash`: commands run in bash;
 * `rooted`: the environment has a root narrower than `/`; `raceFree`: and holds it against a swapped symlink;
 * `ordinaryUser`: the account is not root, so permission bits bind it; `superuser`: it is root, with processes;
 * `smallDisk`: the harness can offer a place with little room.
 */
export const CONTRACT_NEEDS = [
  "exec",
  "noExec",
  "processes",
  "symlinks",
  "hardLinks",
  "specialFiles",
  "modes",
  "bash",
  "rooted",
  "raceFree",
  "ordinaryUser",
  "superuser",
  "smallDisk",
] as const;

export type ContractNeed = (typeof CONTRACT_NEEDS)[number];

/** What the environment under test offers: read from its own capabilities, so it cannot be tested for something else. */
export type ContractFacts = Readonly<Record<ContractNeed, boolean>>;

/** One promise of the contract, as data. */
export interface ContractCase {
  /** The promise in words; unique. */
  readonly name: string;
  /** The id of the hazard, fault or bad input it covers: `P24`, `R27`. */
  readonly id?: string;
  readonly theme: string;
  /** All of these, or the case does not apply. */
  readonly needs?: readonly ContractNeed[];
  /** Part of a short check of a live target: takes well under a second and prepares nothing beside the verbs. */
  readonly quick?: boolean;
  /** Rejects when the promise is broken. */
  run(context: ContractContext): Promise<void>;
}

/** What a case has in hand. */
export interface ContractContext {
  readonly environment: Environment;
  readonly facts: ContractFacts;
  /** A directory of this case's own: absolute, canonical, with nothing in it but a file named `.case`. */
  readonly directory: string;
  /** Ways to put things there that no verb makes: symlinks, FIFOs, permission bits. */
  readonly host: ContractHost;
  /** The absolute path of a name in `directory`. */
  path(name: string): string;
  /** Writes a file in `directory`. */
  write(name: string, content: string | Uint8Array): Promise<FileWritten>;
  /** The text of a file in `directory`. */
  text(name: string): Promise<string>;
  /** The names in a directory below `directory`, sorted, `.case` left out. */
  names(name: string): Promise<readonly string[]>;
  /** Settles with the error; fails when `promise` resolves, hangs, or rejects with another code or another kind of error. */
  rejects(promise: Promise<unknown>, ...codes: readonly ErrorCode[]): Promise<GloveboxError>;
  /** A further environment over a connection of its own to the same target. Closed when the case has ended. */
  reopen(): Promise<Environment>;
}

/** A theme's cases, in the order they are written. */
export function casesOf(theme: string, cases: readonly Omit<ContractCase, "theme">[]): readonly ContractCase[] {
  return cases.map((each) => ({ ...each, theme }));
}
