import { afterAll, beforeAll, describe, it } from "vitest";
import type { Environment, Layer, Target } from "../../src/contract/target.js";
import { openEnvironment } from "../../src/environment.js";
import { audit } from "../../src/layers/audit.js";
import { breaker } from "../../src/layers/breaker.js";
import { intercept } from "../../src/layers/intercept.js";
import { limit } from "../../src/layers/limit.js";
import { retry } from "../../src/layers/retry.js";
import { trace } from "../../src/layers/trace.js";
import { type ContractHost, type ContractSession, contractCases, openContract } from "../../src/testing/index.js";

export interface ContractTestOptions {
  /** Sets the scene on a target without processes, or beyond what a shell can. */
  readonly host?: (environment: Environment) => ContractHost;
  readonly ordinaryUser?: boolean;
  /** Which of the three ways to run the suite. Default: all. */
  readonly variants?: readonly Variant[];
  /** Default: all. */
  readonly themes?: readonly string[];
}

/** What takes no command: the themes of the file verbs. */
export const FILE_THEMES = [
  "read",
  "read lines",
  "write",
  "write if match",
  "stat",
  "readdir",
  "realpath",
  "names",
  "content",
  "environment",
];

export type Variant = keyof typeof VARIANTS;

const VARIANTS = {
  plain: (): readonly Layer[] => [],
  "behind all layers": (): readonly Layer[] => [audit({ write: () => {} }), trace(), limit(), breaker(), retry()],
  "behind a no-op intercept": (): readonly Layer[] => [intercept((_call, next) => next())],
};

/**
 * The contract of one target as tests, one `it` per promise: plain, behind all layers, and behind a no-op intercept. Cases
 * that do not apply are skipped with their reason. `makeTarget` is called once per variant.
 */
export function describeContract(name: string, makeTarget: () => Target | Promise<Target>, options: ContractTestOptions = {}): void {
  const { host, ordinaryUser, variants = Object.keys(VARIANTS) as Variant[], themes } = options;
  for (const variant of variants) {
    describe(`${name}, ${variant}`, () => {
      let session: ContractSession;
      beforeAll(async () => {
        const target = await makeTarget();
        session = await openContract({ open: () => openEnvironment(target, { layers: VARIANTS[variant]() }), host, ordinaryUser });
      });
      afterAll(async () => {
        await session?.close();
      });
      for (const each of contractCases.filter(({ theme }) => themes?.includes(theme) ?? true)) {
        it(`${each.theme}: ${each.name}${each.id === undefined ? "" : ` (${each.id})`}`, { timeout: 130_000 }, async ({ skip }) => {
          const reason = session.skipReason(each);
          if (reason !== undefined) skip(reason);
          await session.run(each);
        });
      }
    });
  }
}
