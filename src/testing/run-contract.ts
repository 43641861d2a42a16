import { randomBytes } from "node:crypto";
import { dirname } from "node:path/posix";
import type { Environment } from "../contract/target.js";
import { contractCases } from "./cases/index.js";
import type { ContractCase, ContractContext, ContractFacts, ContractNeed } from "./contract-case.js";
import { type ContractHost, hostOverExec, noHost } from "./contract-host.js";
import { runCommand } from "./run-command.js";
import { rejection, within } from "./settle.js";

export interface ContractOptions {
  /** Opens an environment on the target under test. Called again for a further connection to the same target. */
  readonly open: () => Promise<Environment>;
  /** Sets the scene. Default: the shell, on a target with processes; else cases that need it are skipped. */
  readonly host?: (environment: Environment) => ContractHost;
  /** On a target without processes: whether permission bits bind the account. Default false. */
  readonly ordinaryUser?: boolean;
  /** How long one case may take, in milliseconds. Default 120,000. */
  readonly caseTimeoutMs?: number;
}

export interface CaseResult {
  readonly name: string;
  readonly id?: string;
  readonly theme: string;
  readonly outcome: "passed" | "failed" | "skipped";
  /** Why it was skipped or how it failed, for people. */
  readonly reason?: string;
  readonly error?: unknown;
  readonly durationMs: number;
}

/** A target opened for its contract: what a test runner needs to make each case a test of its own. */
export interface ContractSession {
  readonly environment: Environment;
  readonly facts: ContractFacts;
  /** Why a case does not apply here; undefined when it does. */
  skipReason(contractCase: ContractCase): string | undefined;
  /** Runs one case in a directory of its own. Rejects with what broke. */
  run(contractCase: ContractCase): Promise<void>;
  /** Removes what the cases left and closes the environment. */
  close(): Promise<void>;
}

/** Opens the target for a run of cases. All cases share one environment; each has a fresh directory. */
export async function openContract({
  open,
  host: hostOf,
  ordinaryUser = false,
  caseTimeoutMs = 120_000,
}: ContractOptions): Promise<ContractSession> {
  const environment = await open();
  const { capabilities } = environment;
  const host = hostOf?.(environment) ?? (capabilities.processes ? hostOverExec(environment) : noHost);
  const facts = await factsOf(environment, host, ordinaryUser);
  const name = `contract-${randomBytes(6).toString("hex")}`;
  let base: string | undefined;
  let count = 0;

  async function run({ name: title, run: body }: ContractCase): Promise<void> {
    count += 1;
    const marker = await environment.writeFile(`${name}/${count}/.case`, new Uint8Array());
    const directory = dirname(marker.canonicalPath);
    base = dirname(directory);
    const further: Environment[] = [];
    const path = (below: string): string => (below === "." ? directory : `${directory}/${below}`);
    const context: ContractContext = {
      environment,
      facts,
      directory,
      host,
      path,
      write: (below, content) => environment.writeFile(path(below), typeof content === "string" ? Buffer.from(content) : content),
      text: async (below) => Buffer.from((await environment.readFile(path(below))).data).toString("utf8"),
      names: async (below) =>
        (await environment.readdir(path(below)))
          .map((entry) => entry.name)
          .filter((entry) => entry !== ".case")
          .sort(),
      rejects: (promise, ...codes) => rejection(promise, codes),
      async reopen() {
        const another = await open();
        further.push(another);
        return another;
      },
    };
    try {
      await within(caseTimeoutMs, `"${title}"`, body(context));
    } finally {
      await Promise.all(further.map((each) => each.close()));
    }
  }

  return {
    environment,
    facts,
    skipReason({ needs = [] }) {
      const missing = needs.filter((need) => !facts[need]);
      return missing.length === 0 ? undefined : `needs ${missing.join(", ")}`;
    },
    run,
    async close() {
      if (base !== undefined) await host.remove(base);
      await environment.close();
    },
  };
}

/**
 * Runs the cases one after another and says how each went; a broken promise is a result, not a rejection. What the cases
 * wrote is removed, where the target has a way to.
 */
export async function runContract(options: ContractOptions & { readonly cases?: readonly ContractCase[] }): Promise<readonly CaseResult[]> {
  const session = await openContract(options);
  try {
    const results: CaseResult[] = [];
    for (const each of options.cases ?? contractCases) results.push(await resultOf(session, each));
    return results;
  } finally {
    await session.close();
  }
}

async function resultOf(session: ContractSession, contractCase: ContractCase): Promise<CaseResult> {
  const { name, id, theme } = contractCase;
  const facts = { name, ...(id && { id }), theme };
  const skipped = session.skipReason(contractCase);
  if (skipped !== undefined) return { ...facts, outcome: "skipped", reason: skipped, durationMs: 0 };
  const started = performance.now();
  try {
    await session.run(contractCase);
    return { ...facts, outcome: "passed", durationMs: performance.now() - started };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ...facts, outcome: "failed", reason, error, durationMs: performance.now() - started };
  }
}

async function factsOf(environment: Environment, host: ContractHost, bound: boolean): Promise<ContractFacts> {
  const { exec, processes, shell, symlinks, hardLinks, specialFiles, modes, confinement } = environment.capabilities;
  const prepared = host !== noHost;
  const uid = processes ? (await runCommand(environment, "id -u")).stdout.trim() : undefined;
  const rooted = environment.root !== undefined && environment.root !== "/" && prepared;
  const facts: Record<ContractNeed, boolean> = {
    exec,
    noExec: !exec,
    processes,
    symlinks: symlinks && prepared,
    hardLinks: hardLinks && prepared,
    specialFiles: specialFiles && prepared,
    modes: modes && prepared,
    bash: processes && shell === "bash",
    rooted,
    raceFree: rooted && confinement === "race_free",
    ordinaryUser: uid === undefined ? bound && prepared : uid !== "0",
    superuser: uid === "0",
    smallDisk: host.smallDisk !== undefined,
  };
  return facts;
}
